#!/bin/sh
# Published figures beside ours, all of them, into one page. Usage: reproduce.sh PARALLAX [PAGE]
#   Data sets: $PARALLAX_DATA, default ../shared/data. PAGE: default docs/results.md.
#   PARTS="nb rls": only these. A part that is done is kept in build/reproduce and not run again; FRESH=1 runs it again.
#   Parts that were not run here keep what the page said of them.
#   LIMIT=SECONDS: the most a part may take (default: no limit).
#   ARGS="--runs 5": further options for the scripts of these parts, e.g. fewer draws; the page tells them.
# Takes hours on two cores. A part that fails is named on the page, the others go on, and the exit status is 1.
set -u
[ $# -ge 1 ] || { echo "usage: $0 PARALLAX [PAGE]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
: "${PARALLAX_DATA:=$here/../../shared/data}"
export PARALLAX_DATA
if [ ! -d "$PARALLAX_DATA" ]; then
    echo "reproduce: there is no directory $PARALLAX_DATA; set PARALLAX_DATA to where the data sets are (docs/guide/data-sets.md)" >&2
    exit 1
fi
. "$here/reproduce_needs.sh"
parallax=$1 page=${2:-$here/../docs/results.md} kept=$here/../build/reproduce failed=""
mkdir -p "$kept"

# NAME|SCRIPT AND OPTIONS|TITLE
parts='nb|reproduce_nb.py|nb: Table 3 of Zhuang et al. (2012)
nb-tfidf|reproduce_nb.py --weights tfidf|nb, tf-idf instead of counts
nb-uniform|reproduce_nb.py --uniform|nb, labels drawn from all samples alike
nb-uniform-tfidf|reproduce_nb.py --uniform --weights tfidf|nb, labels drawn alike, tf-idf
mvkmeans|reproduce_mvkmeans.py|mvkmeans: Table 2 of Dalvi and Cohen
rls|reproduce_rls.py|rls: Table 1 of Sindhwani, Niyogi and Belkin (2005)
kcca|reproduce_kcca.py|kcca: Tables 2 to 4, 6 and 7 of Fortuna and Shawe-Taylor (2005)
kcomplete|reproduce_kcomplete.py|kcomplete: Figure 1 of Williams and Carin (2005)
mvplsa|reproduce_mvplsa.py|mvplsa and cotrain: Tables 3 to 5 of Zhuang et al. (2012)
coem|reproduce_coem.py|coem: cluster entropy as in Bickel and Scheffer (2005)
coreg|reproduce_coreg.py|svm to colapsvm: Tables 1 and 2 of Sindhwani, Niyogi and Belkin (2005)
mvll|reproduce_mvll.py|mvll and single matrices: Tables 3 to 5 of Zhang et al. (2008)
hknn|reproduce_hknn.py|hknn: Table 1 of Okun and Priisalu (2005)
hybridtree|reproduce_hybridtree.py|hybridtree: splits as in Figure 6 of Gupta and Dasgupta (2005)
mrdbscan|reproduce_mrdbscan.py|mrdbscan: mfeat
clusters|reproduce_clusters.py|clusters=auto
smd|reproduce_smd.py|smd: course pages, some paired
bct|reproduce_bct.py|gp and bct: toys and Tables 1 and 2 of Yu et al. (2011)
sense|reproduce_sense.py|active sensing: Figure 5 of Yu et al. (2011)
localmodels|reproduce_localmodels.py|localmodels: Tables 1 and 2 of Rueping (2005)
infobottleneck|reproduce_infobottleneck.py|infobottleneck beside k-means
complete|reproduce_complete.py|data complete: errors on hidden views
ner|reproduce_ner.py|ner: Becker et al. (2005), Roessler and Morik (2005)'

# told TITLE: what the page says under it so far.
told() { [ ! -f "$page" ] || awk -v title="## $1" '/^## / { on = $0 == title; next } on' "$page" | sed -e '1{/^$/d}' -e '${/^$/d}'; }

limited() { if [ -n "${LIMIT:-}" ]; then timeout "$LIMIT" "$@"; else "$@"; fi; }

# one NAME COMMAND: its table and how long it took into build/reproduce/NAME.md, at once or not at all.
one() {
    out=$kept/$1.md
    [ -z "${FRESH:-}" ] || rm -f "$out"
    [ ! -f "$out" ] || return 0
    begin=$(date +%s)
    echo "reproduce: $1" >&2
    script=${2%%.py*}
    has_data "${script#reproduce_}" || { failed="$failed $1"; return 0; }
    # shellcheck disable=SC2086
    if limited python3 "$here"/$2 "$parallax" ${ARGS:-} >"$out.tmp"; then
        printf '\n%s\n' "Took $(($(date +%s) - begin)) s${ARGS:+ with \`$ARGS\`}." >>"$out.tmp"
        mv "$out.tmp" "$out"
    else
        rm -f "$out.tmp"
        failed="$failed $1"
    fi
}

wanted=${PARTS:-$(printf '%s\n' "$parts" | cut -d'|' -f1)}
for name in $wanted; do
    line=$(printf '%s\n' "$parts" | grep "^$name|") || { echo "reproduce: there is no part '$name'" >&2; exit 2; }
    one "$name" "$(printf '%s' "$line" | cut -d'|' -f2)"
done

{
    printf '# Published figures and ours\n\n'
    printf 'Made by `make reproduce`; never edited. Every table has the published figures beside ours; the pages of the\n'
    printf 'methods say what explains a difference. '
    printf 'Version %s, %s.\n' "$("$parallax" version | head -n 1 | cut -d' ' -f2)" \
        "$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1 | sed 's/  */ /g')"
    printf '%s\n' "$parts" | while IFS='|' read -r name _ title; do
        printf '\n## %s\n\n' "$title"
        before=$(told "$title")
        if [ -f "$kept/$name.md" ]; then sed 's/^##* /### /' "$kept/$name.md"
        elif [ -n "$before" ]; then printf '%s\n' "$before"
        else printf 'Not run (`PARTS=%s make reproduce`).\n' "$name"; fi
    done
} >"$page.tmp" && python3 "$here/wrap_prose.py" "$page.tmp" >/dev/null && mv "$page.tmp" "$page" && echo "wrote $page" >&2
[ -z "$failed" ] || { echo "reproduce: failed:$failed" >&2; exit 1; }
