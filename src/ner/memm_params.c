/*
 * Parameters of the conditional Markov models.
 */
#include "ner/memm.h"

const plx__param_spec plx__memm_params_table[] = {
    PLX__CHOICE(
        plx__memm_params, view, "all", "1|2|all",
        "Features: 1 sub-strings, frequency, gazetteers and abbreviations; 2 words, parts of speech, shapes and "
        "earlier occurrences; all of both."),
    PLX__REAL_ABOVE(plx__memm_params, sigma, "1", 0,
                    "Standard deviation of the Gaussian prior of the weights; larger ones fit the text more closely."),
    PLX__INT(plx__memm_params, min_count, "1", 1, 1e9, "Features seen fewer times are left out."),
    PLX__REAL_ABOVE(plx__memm_params, tol, "1e-6", 0,
                    "Stop when the largest gradient entry is at most this times the largest weight (or 1)."),
    PLX__INT(plx__memm_params, max_iter, "2000", 1, 1e9, "Most steps of L-BFGS."),
    PLX__INT(plx__memm_params, history, "3", 0, 3,
             "How many tags before a word its features may ask for; decoding is over as many."),
    PLX__INT(plx__memm_params, beam, "0", 0, 1e6,
             "States kept per word while decoding; 0: all where tags^history is at most 4096, else 64."),
    PLX__BOOL(plx__memm_params, view1_context, "1",
              "View 1 also sees the tags before and short affixes of both neighbours; 0: the published table."),
    {"gazetteer", PLX_PARAM_FILE, PLX__PER_VIEW | PLX__NO_FIELD, 0, "", 0, 0, NULL,
     "gazetteer.NAME=FILE: words of a list, one entry per line, give the feature gaz:NAME."},
    PLX__PARAM_END};

plx__ner_views plx__memm_views(const plx__memm_params *p, bool pos)
{
    return (plx__ner_views){
        .one = p->view != 1, .two = p->view != 0, .context = p->view1_context, .pos = pos, .history = (int)p->history};
}
