#!/bin/sh
# Published figures beside ours, as Markdown on standard output. Needs the data sets: $PARALLAX_DATA, default ../shared/data.
# Takes about an hour on two cores. Usage: reproduce.sh PARALLAX
set -eu
[ $# -eq 1 ] || { echo "usage: $0 PARALLAX" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
: "${PARALLAX_DATA:=$here/../../shared/data}"
export PARALLAX_DATA
if [ ! -d "$PARALLAX_DATA" ]; then
    echo "reproduce: there is no directory $PARALLAX_DATA; set PARALLAX_DATA to where the data sets are" >&2
    exit 1
fi
echo "# nb: Table 3 of Zhuang et al. (2012)"
python3 "$here/reproduce_nb.py" "$1"
for variant in "--weights tfidf" "--uniform" "--uniform --weights tfidf"; do
    printf '\n## %s\n' "$variant"
    # shellcheck disable=SC2086
    python3 "$here/reproduce_nb.py" "$1" $variant
done
echo
echo "# mvkmeans: Table 2 of Dalvi and Cohen"
python3 "$here/reproduce_mvkmeans.py" "$1"
echo
echo "# rls: Table 1 of Sindhwani, Niyogi and Belkin (2005)"
python3 "$here/reproduce_rls.py" "$1"
echo
echo "# kcca: Tables 2 to 4, 6 and 7 of Fortuna and Shawe-Taylor (2005)"
python3 "$here/reproduce_kcca.py" "$1"
echo
echo "# kcomplete: Figure 1 of Williams and Carin (2005)"
python3 "$here/reproduce_kcomplete.py" "$1"
echo
echo "# mvplsa and cotrain: Tables 3 to 5 of Zhuang et al. (2012)"
python3 "$here/reproduce_mvplsa.py" "$1"
echo
echo "# coem: cluster entropy as in Bickel and Scheffer (2005)"
python3 "$here/reproduce_coem.py" "$1"
echo
echo "# svm to colapsvm: Tables 1 and 2 of Sindhwani, Niyogi and Belkin (2005)"
python3 "$here/reproduce_coreg.py" "$1"
echo
echo "# mvll and single matrices: Tables 3 to 5 of Zhang et al. (2008)"
python3 "$here/reproduce_mvll.py" "$1"
echo
echo "# hknn: Table 1 of Okun and Priisalu (2005)"
python3 "$here/reproduce_hknn.py" "$1"
echo
echo "# hybridtree: splits as in Figure 6 of Gupta and Dasgupta (2005)"
python3 "$here/reproduce_hybridtree.py" "$1"
echo
echo "# mrdbscan: mfeat"
python3 "$here/reproduce_mrdbscan.py" "$1"
echo
echo "# clusters=auto"
python3 "$here/reproduce_clusters.py" "$1"
echo
echo "# smd: course pages, some paired"
python3 "$here/reproduce_smd.py" "$1"
echo
echo "# gp and bct: toys and Tables 1 and 2 of Yu et al. (2011)"
python3 "$here/reproduce_bct.py" "$1"
echo
echo "# active sensing: Figure 5 of Yu et al. (2011)"
python3 "$here/reproduce_sense.py" "$1"
echo
echo "# ner: selective sampling of Becker et al. (2005), bootstrapping of Roessler and Morik (2005)"
python3 "$here/reproduce_ner.py" "$1"
