#!/bin/sh
# Published figures of one method beside ours: reproduce_one.sh METHOD PARALLAX. The data sets are in $PARALLAX_DATA
# (default ../shared/data); without them it fails.
set -eu
[ $# -eq 2 ] || { echo "usage: $0 METHOD PARALLAX" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
: "${PARALLAX_DATA:=$here/../../shared/data}"
export PARALLAX_DATA
case $1 in
    svm | laprls | lapsvm | corls | colaprls | colapsvm) script=coreg ;;
    lapreg | nlapreg | llereg | llreg) script=mvll ;;
    spectral) script=smd ;;
    cca) script=kcca ;;
    cotrain) script=mvplsa ;;
    gp) script=bct ;;
    acquire) script=sense ;;
    *) script=$1 ;;
esac
if [ ! -f "$here/reproduce_$script.py" ]; then
    echo "reproduce: there are no published figures for '$1'; there are for: $(cd "$here" &&
        ls reproduce_*.py | sed 's/reproduce_//; s/\.py//' | tr '\n' ' ')" >&2
    exit 1
fi
if [ ! -d "$PARALLAX_DATA" ]; then
    echo "reproduce: there is no directory $PARALLAX_DATA; set PARALLAX_DATA to where the data sets are" >&2
    exit 1
fi
. "$here/reproduce_needs.sh"
has_data "$script" || exit 1
exec python3 "$here/reproduce_$script.py" "$2"
