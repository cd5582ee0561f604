# bash completion for attune
_attune() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} i at=""
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ ${COMP_WORDS[i]} == -* ]] || at+=" ${COMP_WORDS[i]}"
  done
  local common="--help --json --quiet --threads --isa" words
  local search="--beam --length-penalty --coverage-penalty --min-length --max-length --batch-tokens --repetition-penalty --no-repeat-ngram --suppress --sample --temperature --top-k --top-p --seed"
  local metric="--ref --sentence-level --confidence --paired --samples --seed"
  case "$previous" in
  --isa) words="auto avx512 avx2 baseline" ;;
  --kind) words="bpe unigram wordpiece byte char word" ;;
  --tokenize) words="13a intl char zh none" ;;
  --smooth) words="exp floor none" ;;
  --paired) words="bootstrap randomization" ;;
  --variant) words="1 2 L" ;;
  --pool) words="mean first last max" ;;
  --unit) words="line word" ;;
  --input-format) words="auto lines tsv csv conll" ;;
  --format) [[ $at == " tag"* ]] && words="labels pairs conll" || words="lines conll" ;;
  --average) words="macro micro weighted" ;;
  --ref | --samples | --smooth-value | --char-order | --word-order | --beta) words="" ;;
  --threads | --shapes | --seconds | --length | --heads | --dim | --band | --rows | --sentences | --dropout | --size | --character-coverage | --out | --last | --beam | --length-penalty | --coverage-penalty | --min-length | --repetition-penalty | --no-repeat-ngram | --suppress | --temperature | --top-k | --top-p | --n-best | --max-length | --batch-tokens | --set | --over | --seed | --lines | --gap | --depth | --words | --target | --layer | --head | --width | --alignment-layer | --alignment-heads | --prompt | --stop | --columns) words="" ;;
  *)
    case "$at" in
    "") words="demo new train compare translate generate classify tag score embed look average quantize tokenizer test metric info doctor bench --version $common" ;;
    " demo") words="--recipe --out --set $common" ;;
    " translate"*) words="$search --n-best --prefix --alignment --alignment-layer --alignment-heads --align-to --scores --stream --no-shortlist --no-cut --input-format $common" ;;
    " generate"*) words="--prompt $search --n-best --stop --scores --stream $common" ;;
    " score"*) words="--length-penalty --batch-tokens --total --input-format $common" ;;
    " classify"*) words="--scores --windows --batch-tokens --input-format $common" ;;
    " tag"*) words="--format --batch-tokens --input-format $common" ;;
    " embed"*) words="--pool --npy --batch-tokens --input-format $common" ;;
    " look"*) words="--target --at --layer --head --numbers --width --png --svg --html $common" ;;
    " test"*) words="--set --report $search $common" ;;
    " new") words="translate language classify tag image graph probe:copy probe:listops probe:agreement $common" ;;
    " new probe" | " new probe :") words="copy listops agreement" ;; # bash takes the colon for a word
    " new probe"*) words="--out --force --seed --lines --gap --depth --words $common" ;;
    " new "*) words="--train --valid --test --columns --out --time --force --truncate $common" ;;
    " train"*) words="--out --set --fresh $common" ;;
    " compare"*) words="--over --out --set --fresh $common" ;;
    " average"*) words="--out --last --early --no-judge --force $common" ;;
    " quantize"*) words="--out --type --dev --max-loss --shortlist --shortlist-data --shortlist-translations --shortlist-frequent --force $search $common" ;;
    " info") words="models inputs mixers mechanisms scores positions optimizers heads pools recipe --markdown --picture --png --causal --length $common" ;;
    " info "*) words="--markdown $common" ;;
    " tokenizer") words="train encode decode $common" ;;
    " tokenizer train"*) words="--kind --size --lowercase --byte-fallback --character-coverage --out $common" ;;
    " tokenizer "*) words="--ids $common" ;;
    " metric") words="bleu exact aer chrf chrf++ ter rouge wer cer accuracy f1 span-f1 set-f1 pearson mse $common" ;;
    " metric bleu"*) words="--tokenize --smooth --smooth-value --lowercase --effective-order $metric $common" ;;
    " metric chrf"*) words="--char-order --word-order --beta --lowercase --whitespace --eps-smoothing $metric $common" ;;
    " metric ter"*) words="--case-sensitive --normalized --no-punct --asian-support $metric $common" ;;
    " metric rouge"*) words="--variant $metric $common" ;;
    " metric f1"*) words="--average --unit --format $metric $common" ;;
    " metric accuracy"*) words="--unit --format $metric $common" ;;
    " metric span-f1"*) words="--format $metric $common" ;;
    " metric aer"*) words="$metric $common" ;;
    " metric "*) words="--lowercase $metric $common" ;;
    " bench") words="train decode gemm attention $common" ;;
    " bench train"*) words="--set --updates --warm $common" ;;
    " bench decode"*) words="--beam --batch-tokens --length-penalty --max-length --lines --latency-lines --rounds --no-shortlist $common" ;;
    " bench gemm"*) words="--shapes --seconds $common" ;;
    " bench attention"*) words="--length --heads --dim --causal --band --mechanism --rows --sentences --dropout --decode --seconds $common" ;;
    *) words="$common" ;;
    esac
    ;;
  esac
  [[ $word == : ]] && word=""
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _attune attune
