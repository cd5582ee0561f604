#include "verbs.h"

namespace demo {

const std::vector<ObjectVerb> kAccusative{
    {{"see", "sees", "saw", "seen", "sehen", "sehe", "sieht", "sah", "sahen", "gesehen"}, kLiving | kThing},
    {{"find", "finds", "found", "found", "finden", "finde", "findet", "fand", "fanden", "gefunden"}, kLiving | kThing},
    {{"paint", "paints", "painted", "painted", "malen", "male", "malt", "malte", "malten", "gemalt"},
     kLiving | kThing | kPlace},
    {{"look for", "looks for", "looked for", "looked for", "suchen", "suche", "sucht", "suchte", "suchten", "gesucht"},
     kLiving | kThing},
    {{"hear", "hears", "heard", "heard", "hören", "höre", "hört", "hörte", "hörten", "gehört"}, kLiving},
    {{"visit", "visits", "visited", "visited", "besuchen", "besuche", "besucht", "besuchte", "besuchten", "besucht"},
     kLiving},
    {{"invite", "invites", "invited", "invited", "laden", "lade", "lädt", "lud", "luden", "geladen", "ein"}, kLiving},
    {{"wait", "waits", "waited", "waited", "warten", "warte", "wartet", "wartete", "warteten", "gewartet"},
     kLiving,
     {"for ", "auf "}},
    {{"buy", "buys", "bought", "bought", "kaufen", "kaufe", "kauft", "kaufte", "kauften", "gekauft"}, kThing},
    {{"sell", "sells", "sold", "sold", "verkaufen", "verkaufe", "verkauft", "verkaufte", "verkauften", "verkauft"},
     kThing},
    {{"carry", "carries", "carried", "carried", "tragen", "trage", "trägt", "trug", "trugen", "getragen"}, kThing},
    {{"need", "needs", "needed", "needed", "brauchen", "brauche", "braucht", "brauchte", "brauchten", "gebraucht"},
     kThing},
    {{"pick up", "picks up", "picked up", "picked up", "heben", "hebe", "hebt", "hob", "hoben", "gehoben", "auf"},
     kThing},
};
const std::vector<Verb> kDative{
    {"help", "helps", "helped", "helped", "helfen", "helfe", "hilft", "half", "halfen", "geholfen"},
    {"thank", "thanks", "thanked", "thanked", "danken", "danke", "dankt", "dankte", "dankten", "gedankt"},
    {"follow", "follows", "followed", "followed", "folgen", "folge", "folgt", "folgte", "folgten", "gefolgt", "", true},
    {"answer", "answers", "answered", "answered", "antworten", "antworte", "antwortet", "antwortete", "antworteten",
     "geantwortet"},
};
const std::vector<Verb> kGiving{
    {"give", "gives", "gave", "given", "geben", "gebe", "gibt", "gab", "gaben", "gegeben"},
    {"show", "shows", "showed", "shown", "zeigen", "zeige", "zeigt", "zeigte", "zeigten", "gezeigt"},
    {"bring", "brings", "brought", "brought", "bringen", "bringe", "bringt", "brachte", "brachten", "gebracht"},
};
const std::vector<Verb> kStaying{
    {"sleep", "sleeps", "slept", "slept", "schlafen", "schlafe", "schläft", "schlief", "schliefen", "geschlafen"},
    {"sit", "sits", "sat", "sat", "sitzen", "sitze", "sitzt", "saß", "saßen", "gesessen"},
    {"stand", "stands", "stood", "stood", "stehen", "stehe", "steht", "stand", "standen", "gestanden"},
    {"play", "plays", "played", "played", "spielen", "spiele", "spielt", "spielte", "spielten", "gespielt"},
};
const Verb kLie{"lie", "lies", "lay", "lain", "liegen", "liege", "liegt", "lag", "lagen", "gelegen"};
const Verb kCost{"cost", "costs", "cost", "cost", "kosten", "koste", "kostet", "kostete", "kosteten", "gekostet"};
const std::vector<TimedVerb> kTimed{
    {{"leave", "leaves", "left", "left", "fahren", "fahre", "fährt", "fuhr", "fuhren", "gefahren", "ab", true},
     kVehicle},
    {{"arrive", "arrives", "arrived", "arrived", "kommen", "komme", "kommt", "kam", "kamen", "gekommen", "an", true},
     kVehicle},
    {{"begin", "begins", "began", "begun", "beginnen", "beginne", "beginnt", "begann", "begannen", "begonnen"}, kShow},
    {{"open", "opens", "opened", "opened", "öffnen", "öffne", "öffnet", "öffnete", "öffneten", "geöffnet"}, kShop},
    {{"close", "closes", "closed", "closed", "schließen", "schließe", "schließt", "schloss", "schlossen",
      "geschlossen"},
     kShop},
};

}  // namespace demo
