# Which data sets the scripts of published figures read; sourced by reproduce.sh and reproduce_one.sh.

# needs SCRIPT: names of folders in $PARALLAX_DATA. SCRIPT is NAME of reproduce_NAME.py.
needs() {
    case $1 in
        nb) echo webkb_cornell webkb_washington newsgv2 newsgv4 ;;
        mvplsa) echo webkb_cornell webkb_washington newsgv2 newsgv4 ;;
        mvkmeans | coem) echo cora citeseer webkb ;;
        mvll) echo webkb_cornell webkb_texas webkb_washington webkb_wisconsin cora ;;
        rls | coreg | smd) echo webkb_course ;;
        bct) echo citeseer webkb_course mfeat breast_tcga ;;
        sense) echo breast_tcga ;;
        acquire) echo webkb_course newsgv2 mfeat breast_tcga ;;
        kcca) echo europarl_en_fr wine ;;
        kcomplete) echo ionosphere mfeat ;;
        hknn) echo protein_fold27 mfeat ;;
        hybridtree | mrdbscan) echo mfeat ;;
        localmodels) echo breast_cancer_wisconsin wine mfeat ionosphere breast_tcga ;;
        clusters) echo mfeat newsgv2 newsgv4 wine ;;
        complete) echo mfeat newsgv2 wine breast_tcga ;;
        ner) echo ner_jnlpba ;;
    esac
}

# has_data SCRIPT: true when all of them are there; else says which are not.
has_data() {
    lacking=""
    for set in $(needs "$1"); do [ -d "$PARALLAX_DATA/$set" ] || lacking="$lacking $set"; done
    [ -z "$lacking" ] && return 0
    echo "reproduce: $1 needs data sets that are not in $PARALLAX_DATA:$lacking; docs/guide/data-sets.md says where they are from" >&2
    return 1
}
