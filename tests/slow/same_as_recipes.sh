# Sourced by same_as.sh: small data of many kinds, made of the sentences that ship with recipes/demo, and the recipes.
#
# same_data DIR DEMO writes the data and a recipe for each kind of it to DIR; same_recipes calls
#   recipe NAME BASE KEY=VALUE...
# for each recipe: BASE.toml of DIR with these settings on top. @ in a value is the folder of the runs so far. Together
# they have every task, shape, mechanism, score, normaliser, position scheme, pooling, head and optimiser (same_as.sh
# looks that none is missing), every activation, schedule, tokenizer and kind of file.

same_data() {
  local dir=$1 demo=$2 side
  for side in en de; do
    zcat "$demo/train.$side.gz" | head -n 1200 >"$dir/train.$side"
    head -n 40 "$demo/valid.$side" >"$dir/valid.$side"
    head -n 16 "$demo/test.$side" >"$dir/test.$side"
  done
  cp "$dir/test.en" "$dir/test.lines"
  cut -d ' ' -f 1-3 "$dir/test.de" >"$dir/prompts"
  # English and German of a line; every second label of a pair of texts says that they belong together.
  local part
  for part in train valid test; do
    paste "$dir/$part.en" "$dir/$part.de" >"$dir/$part.both"
    # What is asked of a text: its first word, the words it has of a few, its length, and for words the dates they tell.
    awk -F '\t' -v dir="$dir" -v part="$part" '
      BEGIN { print "text,label" > (dir "/" part ".csv"); print "de\tweight\ten" > (dir "/" part ".named") }
      {
        n = split($1, words, " "); label = words[1] ~ /^(He|She|It|I|We|They|The|On)$/ ? words[1] : "other"; set = ""
        for (i = 1; i <= n; i++)
          if (words[i] ~ /^(old|small|red|house|that|every)$/ && index(" " set " ", " " words[i] " ") == 0)
            set = set (set == "" ? "" : " ") words[i]
        print label "\t" $1 > (dir "/" part ".label")
        print set "\t" $1 > (dir "/" part ".labels")
        print n / 4 "\t" $1 > (dir "/" part ".number")
        print label "\t" n / 4 "\t" $1 > (dir "/" part ".several")
        print (NR % 2 ? "yes\t" $1 "\t" $2 : "no\t" $1 "\t" last) > (dir "/" part ".pairs")
        print "\"" $1 "\"," label > (dir "/" part ".csv")
        print $2 "\t" NR % 3 "\t" $1 > (dir "/" part ".named")
        print 1 + NR % 2 > (dir "/" part ".weights")
        m = split($2, german, " "); links = ""
        for (i = 0; i < n && i < m; i++) links = links (i ? " " : "") i "-" i
        print links > (dir "/" part ".links")
        inside = 0
        for (i = 1; i <= n; i++) {
          date = words[i] ~ /^(the|The|on|On)$/ && words[i + 1] ~ /(th|st|nd|rd)$/ || inside && inside < 4
          print words[i] "\t" length(words[i]) % 4 "\t" (date ? (inside ? "I" : "B") "-DATE" : "O") > (dir "/" part ".conll")
          inside = date ? inside + 1 : 0
        }
        print "" > (dir "/" part ".conll")
        last = $2
      }' "$dir/$part.both"
  done
  cut -f 2- "$dir/test.pairs" >"$dir/pairs.lines"
  awk '{ for (i = 1; i <= NF; i++) if (!seen[$i]++ && ++n <= 60) { printf "%s", $i; for (j = 0; j < 32; j++) printf " %g", ((n * 7 + j * 13) % 19 - 9) / 20; print "" } }' \
    "$dir/train.en" >"$dir/vectors"

  local common='
[model]
encoder_layers = 2
decoder_layers = 2
d_model = 32
d_ff = 64
heads = 4
dropout = 0.1
norm = "pre"
[train]
batch_tokens = 512
shards = 4
stop = "50u"
save = "25u"
validate = "25u"
learning_rate = 1e-2
warmup = 10
keep = 2
average = 1
'
  base() { # NAME TASK: the lines of [data] and [tokenizer] come from stdin
    { echo "task = \"$2\"" && cat && printf '%s' "$common"; } >"$dir/$1.toml"
  }
  files() { printf '[data]\ntrain = ["train.%s"]\nvalid = ["valid.%s"]\ntest = ["test.%s"]\n' "$1" "$1" "$1"; }
  local pieces='[tokenizer]
kind = "bpe"
size = 300'
  base translate translate <<TOML
[data]
train = ["train.en", "train.de"]
valid = ["valid.en", "valid.de"]
test = ["test.en", "test.de"]
$pieces
TOML
  base table translate <<<"$(files named)
format = \"tsv\"
header = true
columns = [\"en\", \"de\"]
languages = [\"en\", \"de\"]
$pieces"
  base lines language <<<"$(files de)
$pieces"
  base stream language <<<"$(files de)
stream = true
max_length = 48
[tokenizer]
kind = \"char\"
size = 100"
  local kind
  for kind in label labels number several pairs; do
    base $kind classify <<<"$(files $kind)
$pieces"
  done
  base csv classify <<<"$(files csv)
format = \"csv\"
header = true
$pieces"
  base tags tag <<<"$(files conll)
columns = [1, 2]
$pieces"
  base spans tag <<<"$(files conll)
columns = [1, 3]
$pieces"
}

same_recipes() {
  # Translations: an encoder and a decoder, each mechanism on both sides, and from one to the other where it can.
  recipe paper translate model.norm=post model.attention=softmax model.position=sinusoidal train.optimizer=adam \
    model.attention_dropout=0.1 model.activation_dropout=0.1 train.schedule=inverse-sqrt train.average=2 train.metric=bleu
  recipe shaw translate 'model.position={ kind = "shaw", clip = 5 }' model.activation=gelu tokenizer.kind=unigram \
    tokenizer.joint=false model.tie=output train.optimizer=adamw train.weight_decay=0.1 train.schedule=cosine train.metric=chrf
  recipe t5 translate 'model.position={ kind = "t5", buckets = 8, farthest = 20 }' model.heads_kv=2 model.activation=swiglu \
    tokenizer.joint=false model.tie=none train.optimizer=adafactor train.schedule=linear train.metric=ter
  recipe alibi-music translate model.encoder_position=alibi model.decoder_position=music model.encoder_heads=2 \
    model.decoder_heads=8 model.cross_heads=1 model.activation=geglu train.schedule=exponential train.metric=rouge \
    'train.optimizer={ kind = "adafactor", relative_step = false }'
  recipe band translate 'model.attention={ kind = "band", width = 5 }' model.position=alibi tokenizer.kind=wordpiece \
    train.optimizer=sgd train.learning_rate=0.1 train.metric=exact
  recipe band-gaps translate 'model.attention={ kind = "band", width = 3, dilation = 2 }' model.position=rope \
    'train.optimizer={ kind = "sgd", nesterov = true }' train.learning_rate=0.1 train.schedule=constant train.metric=wer
  recipe linear translate model.attention=linear model.cross_attention=linear model.position=learned tokenizer.kind=char \
    model.activation=swish train.metric=cer
  recipe routing translate 'model.attention={ kind = "routing", clusters = 4, window = 4, decay = 0.9 }' model.position=none \
    tokenizer.kind=word train.schedule=plateau train.validate=10u train.plateau_patience=1 train.metric=loss
  recipe luna translate 'model.attention={ kind = "luna", length = 4 }' model.position=learned tokenizer.kind=byte \
    train.metric=chrf++
  recipe adaptive-span translate model.position=rope train.metric=perplexity \
    'model.attention={ kind = "adaptive-span", longest = 16, ramp = 4, start = 0.3, penalty = 0.01 }'
  recipe transformer-xl translate 'model.attention={ kind = "transformer-xl", memory = 8 }' model.position=transformer-xl \
    tokenizer.byte_fallback=true tokenizer.size=600
  recipe persistent translate 'model.attention=[{ kind = "persistent", size = 7 }, { kind = "persistent", size = 9, feed_forward = true }]' \
    'model.position={ kind = "rope", base = 500 }' 'train.optimizer={ kind = "adamw", vectors = true }' train.weight_decay=0.1
  recipe scores-1 translate 'model.encoder_attention={ kind = "softmax", score = "dot" }' train.clip=1 \
    'model.decoder_attention={ kind = "softmax", score = "general" }' 'model.cross_attention={ kind = "softmax", score = "additive" }'
  recipe scores-2 translate 'model.encoder_attention={ kind = "softmax", score = "normed-additive" }' model.position=rope \
    'model.decoder_attention={ kind = "softmax", score = "cosine" }' 'model.cross_attention={ kind = "softmax", score = "l2" }'
  recipe normalisers translate 'model.encoder_attention={ kind = "softmax", normalizer = "top-k", k = 3 }' \
    'model.decoder_attention={ kind = "softmax", normalizer = "sparsemax" }' \
    'model.cross_attention=[{ kind = "softmax", score = "scaled-dot", normalizer = "softmax" }, { kind = "softmax", score = "cosine", normalizer = "sparsemax" }]'
  recipe guided-diagonal translate train.guide.weight=1 train.guide.layer=1 train.guide.head=2 train.recompute=true
  recipe guided-links translate train.guide.weight=0.5 train.guide.kind=alignment 'data.alignment=["data/train.links"]'
  recipe noise translate train.sampling.share=0.5 train.sampling.over=20 train.target_noise=0.1 train.piece_dropout=0.2 \
    train.ema=0.9 model.word_dropout=0.1 model.layer_dropout=0.2
  recipe mixture translate 'data.train=[["data/train.en", "data/train.de"], ["data/valid.en", "data/valid.de"]]' 'data.ratio=[2, 1]' \
    'data.weights=["data/train.weights", "data/valid.weights"]' train.slices=2 train.accumulate=2 train.recompute=true
  recipe table table data.lowercase=true data.max_length=10 data.overlong=crop
  recipe start translate train.start=@/paper model.norm=post train.learning_rate=1e-3 'train.freeze=["encoder.0"]' train.seed=5
  # Translations by one decoder.
  recipe prefix translate model.shape=prefix model.position=sinusoidal model.norm=post train.slices=2
  recipe prefix-rope translate model.shape=prefix model.position=rope model.heads_kv=1 train.recompute=true
  # Language models of lines, and of a text that is read on and on: every mechanism looks back only.
  recipe language lines model.shape=decoder model.position=alibi
  recipe language-t5 lines model.position=t5 'model.attention=["softmax", { kind = "band", width = 4 }]' model.tie=none
  recipe stream stream model.position=music model.activation=swiglu train.schedule=cosine
  recipe stream-xl stream 'model.attention={ kind = "transformer-xl", memory = 32 }' model.position=transformer-xl
  recipe stream-xl-shaw stream 'model.attention={ kind = "transformer-xl", memory = 16 }' model.position=shaw model.norm=post
  recipe stream-turns stream 'model.attention=["linear", { kind = "routing", clusters = 4 }, { kind = "luna", length = 4 }]' \
    model.decoder_layers=4 model.position=learned
  recipe stream-spans stream 'model.attention=[{ kind = "adaptive-span", longest = 32, ramp = 8 }, { kind = "persistent", size = 8 }]' \
    model.position=rope train.ema=0.95
  # Words that are missing.
  recipe masked lines model.shape=encoder model.head=words model.position=learned train.mask=0.2 \
    'data.train=["data/train.en"]' 'data.valid=["data/valid.en"]' 'data.test=["data/test.en"]'
  recipe masked-shaw lines model.shape=encoder model.position=shaw model.norm=post 'model.attention=["softmax", "band"]'
  # Labels, numbers and tags.
  recipe label label model.head=label model.pool=mean
  recipe label-ngrams label 'model.head={ kind = "label", ngrams = 2 }' model.pool=first train.label_weights=balanced \
    train.vectors=data/vectors tokenizer.kind=word
  recipe label-csv csv model.pool=max model.position=t5 train.label_weights=root train.metric=f1
  recipe label-hops label 'model.pool={ kind = "attention", hops = 3, inner = 8, penalty = 0.1 }' model.position=rope
  recipe label-start label train.start=@/masked 'train.start_parts=["encoder"]' model.position=learned \
    'train.freeze=["encoder.embedding"]' model.pool=attention
  recipe label-routing label 'model.attention=["routing", "luna", "linear"]' model.encoder_layers=3 model.position=none
  recipe pairs pairs model.pool=pair
  recipe pairs-mean pairs model.pool=mean model.norm=post model.position=transformer-xl
  recipe bag label model.shape=bag model.pool=bag
  recipe bag-pairs pairs model.shape=bag model.ngrams=3
  recipe encoder-bag label model.pool=bag
  recipe labels labels 'model.head={ kind = "labels", threshold = 0.4 }'
  recipe number number model.head=number model.pool=max train.metric=mse
  recipe several several 'model.head={ kind = "several", heads = "label number", weights = "1 0.5" }' data.answers=2
  recipe tags tags model.head=tags
  recipe tags-char tags tokenizer.kind=char model.position=shaw train.batch_tokens=1024
  recipe spans spans train.metric=span-f1
  recipe spans-crf spans 'model.head={ kind = "tags", crf = true }' 'model.attention=["softmax", { kind = "band", width = 3 }]'
}
