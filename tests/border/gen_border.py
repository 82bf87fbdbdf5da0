#!/usr/bin/env python3
"""Writes the calls of the border test: every exported function with each pointer NULL in turn and each index, enum, number
and option out of range.

Usage: gen_border.py OUT.c

The functions are those of tools/symbols.txt, their prototypes those of the public headers; a function that cannot be read
or has a parameter no value is known for is an error here, so that a new one cannot escape. The desk (border_desk.h) holds
an object of every kind.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tools"))
import public_headers  # noqa: E402

# ---- good values: by function and parameter, else by type and name, else by type ----

BY_FUNCTION = {
    ("plx_acquire", "data"): "d->holes",
    ("plx_acquire", "kind"): "PLX_ACQUIRE_FEATURES",
    ("plx_acquire", "method"): '"bct"',
    ("plx_acquire", "params"): "d->acquire_params",
    ("plx_acquire_params_create", "method"): '"bct"',
    ("plx_acquire_simulate", "kind"): "PLX_ACQUIRE_FEATURES",
    ("plx_acquire_simulate", "method"): '"bct"',
    ("plx_acquire_simulate", "params"): "d->acquire_params",
    ("plx_model_reason", "model"): "d->several",
    ("plx_model_members", "model"): "d->several",
    ("plx_model_member_method", "model"): "d->several",
    ("plx_model_member", "model"): "d->several",
    ("plx_model_member_left_out", "model"): "d->several",
    ("plx_model_member_agreement", "model"): "d->several",
    ("plx_dataset_set_view_text", "options"): '"min_df=2"',
    ("plx_tune", "method"): '"rls"',
    ("plx_tune", "params"): "d->tune_params",
    ("plx_compare_format_parse", "name"): '"json"',
    ("plx_compare_splits", "directory"): '"splits"',
    ("plx_context_set_stream", "directory"): '"."',
    ("plx_comparison_write", "path"): '"comparison.txt"',
    ("plx_complete", "model"): "d->completer",
    ("plx_complete_fit", "params"): "d->complete_params",
    ("plx_completion_write", "path"): '"filled.csv"',
    ("plx_curves_write", "path"): '"curves.csv"',
    ("plx_curves_summary", "metric"): '"accuracy"',
    ("plx_acquirer_array", "method"): '"bct"',
    ("plx_acquirer_param", "method"): '"bct"',
    ("plx_acquisition_write", "data"): "d->holes",
    ("plx_acquisition_write", "path"): '"ranking.csv"',
    ("plx_acquisition_table", "data"): "d->holes",
    ("plx_acquisition_table", "path"): '"table.csv"',
    ("plx_conll_read", "path"): '"text.conll"',
    ("plx_dataset_add_dense", "name"): '"another"',
    ("plx_dataset_add_dense", "features"): "d->features",
    ("plx_dataset_add_sparse", "name"): '"another"',
    ("plx_dataset_add_sparse", "features"): "d->features",
    ("plx_dataset_borrow_dense", "name"): '"lent"',
    ("plx_dataset_borrow_dense", "features"): "d->features",
    ("plx_dataset_borrow_sparse", "name"): '"lent"',
    ("plx_dataset_borrow_sparse", "features"): "d->features",
    ("plx_dataset_create", "n"): "3",
    ("plx_dataset_find_view", "name"): '"a"',
    ("plx_dataset_min_df", "least"): "1",
    ("plx_dataset_read", "path"): '"stored"',
    ("plx_dataset_select", "count"): "2",
    ("plx_dataset_set_hierarchy", "classes"): "d->classes",
    ("plx_dataset_set_hierarchy", "n_classes"): "2",
    ("plx_dataset_set_hierarchy", "subset"): "d->pair",
    ("plx_dataset_set_hierarchy", "n_subset"): "1",
    ("plx_dataset_set_hierarchy", "mutex"): "d->pair",
    ("plx_dataset_set_hierarchy", "n_mutex"): "1",
    ("plx_dataset_sparse", "data"): "d->thin",
    ("plx_dataset_write", "path"): '"written"',
    ("plx_eval_dataset", "options"): "&d->eval_pred",
    ("plx_generate", "kind"): '"two-gauss"',
    ("plx_generate", "settings"): "d->settings",
    ("plx_generate", "n_settings"): "1",
    ("plx_json_number", "buffer"): "d->characters",
    ("plx_json_number", "size"): "16",
    ("plx_json_string", "buffer"): "d->characters",
    ("plx_json_string", "size"): "16",
    ("plx_json_string", "text"): '"text"',
    ("plx_explanation_find", "key"): '"features"',
    ("plx_leftovers_remove", "path"): '"written.txt"',
    ("plx_matrix_write", "path"): '"matrix.csv"',
    ("plx_matrix_write_sparse", "path"): '"matrix.mtx"',
    ("plx_method_nearest", "name"): '"cc"',
    ("plx_metrics_find", "name"): '"accuracy"',
    ("plx_metrics_ranking", "positive"): '"B"',
    ("plx_metrics_ranking", "classes"): "d->classes",
    ("plx_metrics_regression", "truth"): "d->numbers",
    ("plx_metrics_regression", "pred"): "d->numbers",
    ("plx_metrics_retrieval", "gold"): "d->gold",
    ("plx_metrics_retrieval", "n_top"): "2",
    ("plx_metrics_table", "methods"): "d->classes",
    ("plx_metrics_table", "datasets"): "d->labels",
    ("plx_metrics_views", "n"): "4",
    ("plx_metrics_views", "n_views"): "2",
    ("plx_metrics_views", "views"): "d->classes",
    ("plx_missing_pattern_parse", "name"): '"mcar"',
    ("plx_model_array", "name"): "plx_model_array_name(d->model, 0)",
    ("plx_model_array_names", "array"): "plx_model_array_name(d->model, 0)",
    ("plx_model_array_sparse", "model"): "d->thin_model",
    ("plx_model_array_sparse", "name"): "d->sparse_name",
    ("plx_model_array_write", "array"): "plx_model_array_name(d->model, 0)",
    ("plx_model_array_write", "path"): '"array.csv"',
    ("plx_model_load", "path"): '"stored.plx"',
    ("plx_model_param", "key"): '"dim"',
    ("plx_model_save", "path"): '"written.plx"',
    ("plx_ner_bootstrap", "params"): "d->bootstrap_params",
    ("plx_ner_bootstrap", "text"): '"words.txt"',
    ("plx_ner_choice_write", "path"): '"choice.csv"',
    ("plx_ner_curve_write", "path"): '"ner_curve.csv"',
    ("plx_ner_eval", "scheme"): '"any"',
    ("plx_ner_eval", "text"): "d->judged",
    ("plx_ner_model_load", "path"): '"names.plx"',
    ("plx_ner_model_save", "path"): '"written_names.plx"',
    ("plx_ner_param", "what"): '"memm"',
    ("plx_ner_params_create", "what"): '"memm"',
    ("plx_ner_parse", "text"): '"Ann B-PER\\n"',
    ("plx_ner_parse", "bytes"): "10",
    ("plx_ner_read", "path"): '"names.conll"',
    ("plx_ner_select", "metric"): '"kl-ave"',
    ("plx_ner_select", "models"): "d->ner_models",
    ("plx_ner_select", "n_models"): "2",
    ("plx_ner_select", "params"): "d->select_params",
    ("plx_ner_select_probs", "metric"): '"kl-ave"',
    ("plx_ner_select_probs", "n_paths"): "2",
    ("plx_ner_select_probs", "params"): "d->select_params",
    ("plx_ner_select_probs", "paths"): "d->probs",
    ("plx_ner_simulate", "params"): "d->ner_simulate_params",
    ("plx_ner_tag_file", "in"): '"names.conll"',
    ("plx_ner_tag_file", "out"): '"tagged.conll"',
    ("plx_ner_train", "learner"): '"memm"',
    ("plx_ner_train", "params"): "d->ner_params",
    ("plx_ner_words", "words"): "d->ids",
    ("plx_ner_words", "n_words"): "BORDER_SAMPLES",
    ("plx_ner_words", "sentences"): "(const plx_index[]){0}",
    ("plx_ner_words", "n_sentences"): "1",
    ("plx_params_get", "key"): '"dim"',
    ("plx_params_set", "key"): '"dim"',
    ("plx_params_set", "value"): '"1"',
    ("plx_params_set_int", "key"): '"dim"',
    ("plx_params_set_real", "key"): '"dim"',
    ("plx_prediction_array", "name"): '"shared"',
    ("plx_prediction_array_write", "array"): '"shared"',
    ("plx_prediction_array_write", "path"): '"prediction.csv"',
    ("plx_prediction_metrics", "prediction"): "plx_model_prediction(d->model)",
    ("plx_prediction_write", "path"): '"prediction.csv"',
    ("plx_report_create", "command"): '"parallax fit"',
    ("plx_report_add_data", "prediction"): "plx_model_prediction(d->model)",
    ("plx_report_add_explanation", "about"): '"data"',
    ("plx_report_add_curves", "what"): '"labels"',
    ("plx_report_add_warning", "text"): '"careful"',
    ("plx_report_add_setting", "value"): '"1"',
    ("plx_report_add_setting", "otherwise"): '"0"',
    ("plx_report_write", "path"): '"report.html"',
    ("plx_report_figure", "report"): '"report.html"',
    ("plx_report_figure", "path"): '"figure.svg"',
    ("plx_retrieval_write", "path"): '"retrieval.csv"',
    ("plx_split_features", "spec"): '"1"',
    ("plx_split_folds", "k"): "2",
    ("plx_split_labels", "spec"): '"50%"',
    ("plx_split_read", "path"): '"chosen.txt"',
    ("plx_dataset_save", "manifest"): 'fresh_name("saved.json")',
    ("plx_dataset_save", "path"): '"table.csv"',
    ("plx_dataset_scale", "how"): '"unit"',
    ("plx_split_label_texts", "labels"): "d->texts_out",
    ("plx_text_write", "text"): '"text"',
    ("plx_text_write", "path"): '"written.txt"',
    ("plx_view_kind_parse", "name"): '"counts"',
}
BY_NAME = {
    ("const char *", "method"): '"cca"',
    ("const char *", "name"): '"name"',
    ("const char *const *", "truth"): "d->labels",
    ("const char *const *", "labels"): "d->labels",
    ("const char *const *", "pred"): "d->labels",
    ("const char *const *", "clusters"): "d->labels",
    ("const char *const *", "ids"): "d->ids",
    ("plx_index", "n"): "BORDER_SAMPLES",
    ("plx_index", "n_hidden"): "1",
    ("plx_index", "n_data"): "1",
    ("double", "fraction"): "0.5",
}
BY_TYPE = {
    "plx_context *": "d->ctx",
    "const plx_context *": "d->ctx",
    "plx_dataset *": "d->building",
    "const plx_dataset *": "d->data",
    "plx_params *": "d->params",
    "const plx_params *": "d->params",
    "plx_model *": "d->model",
    "const plx_model *": "d->model",
    "plx_prediction *": "d->prediction",
    "const plx_prediction *": "d->prediction",
    "plx_metrics *": "d->metrics",
    "const plx_metrics *": "d->metrics",
    "plx_retrieval *": "d->retrieval",
    "const plx_retrieval *": "d->retrieval",
    "plx_explanation *": "d->explanation",
    "const plx_explanation *": "d->explanation",
    "plx_acquisition *": "d->acquisition",
    "const plx_acquisition *": "d->acquisition",
    "plx_completion *": "d->completion",
    "const plx_completion *": "d->completion",
    "plx_curves *": "d->curves",
    "const plx_curves *": "d->curves",
    "plx_conll *": "d->conll",
    "const plx_conll *": "d->names",
    "plx_ner_model *": "d->ner_model",
    "const plx_ner_model *": "d->ner_model",
    "plx_ner_choice *": "d->choice",
    "const plx_ner_choice *": "d->choice",
    "plx_ner_curve *": "d->ner_curve",
    "const plx_ner_curve *": "d->ner_curve",
    "plx_ner_tagged *": "d->tagged",
    "const plx_ner_tagged *": "d->tagged",
    "const plx_eval_options *": "&d->eval_files",
    "const plx_simulate_options *": "&d->simulate",
    "const plx_compare_options *": "&d->compare",
    "const plx_tune_options *": "&d->tune",
    "plx_tuning *": "d->tuning",
    "const plx_tuning *": "d->tuning",
    "const plx_dataset *const *": "(const plx_dataset *const *)&d->data",
    "plx_report *": "d->report",
    "const plx_report *": "d->report",
    "plx_comparison *": "d->comparison",
    "const plx_comparison *": "d->comparison",
    "const plx_metrics_hierarchy *": "&d->hierarchy",
    "const plx_index *": "d->indices",
    "const double *": "d->values",
    "const uint8_t *": "d->flags",
    "uint8_t *": "d->flags_out",
    "int32_t *": "d->numbers_out",
    "const int32_t **": "&d->pairs_out",
    "plx_cmat": "d->dense",
    "plx_ccsr": "d->sparse",
    "plx_index": "0",
    "int": "1",
    "int64_t": "1",
    "uint64_t": "1",
    "double": "1.0",
    "int *": "&d->int_out",
    "double *": "&d->number_out",
    "plx_index *": "&d->index_out",
    "void *": "d",
    "plx_progress_fn": "border_progress",
    "plx_log_fn": "border_log",
}

# ---- what is allowed ----

# NULL is allowed here, as the headers say; with a good value everywhere else the call succeeds.
OPTIONAL = {
    "plx_context_set_stream": ["directory"],
    "plx_context_set_peers": ["peers"],
    "plx_context_set_engines": ["engines"],
    "plx_explain": ["options"],
    "plx_model_array_names": ["data"],
    "plx_model_array_write": ["data"],
    "plx_prediction_array_write": ["array"],
    "plx_acquire": ["params", "options"],
    "plx_acquire_simulate": ["params", "options"],
    "plx_compare": ["options"],
    "plx_compare_splits": ["options"],
    "plx_complete_fit": ["params"],
    "plx_context_create": ["options"],
    "plx_context_set_log": ["fn", "payload"],
    "plx_context_set_progress": ["fn", "payload"],
    "plx_curves_summary": ["metric"],
    "plx_dataset_add_dense": ["features", "present"],
    "plx_dataset_add_sparse": ["features", "present"],
    "plx_dataset_borrow_dense": ["features", "present"],
    "plx_dataset_borrow_sparse": ["features", "present"],
    "plx_dataset_create": ["name"],
    "plx_dataset_mutex": ["pairs"],
    "plx_dataset_read": ["options"],
    "plx_dataset_relabel": ["labels"],
    "plx_dataset_save": ["options"],
    "plx_dataset_set_labels": ["labels"],
    "plx_dataset_set_sample_costs": ["costs"],
    "plx_dataset_set_truth": ["truth"],
    "plx_dataset_subset": ["pairs"],
    "plx_fit": ["params", "options"],
    "plx_json_number": ["buffer"],
    "plx_json_string": ["buffer", "text"],
    "plx_metrics_multilabel": ["hierarchy"],
    "plx_metrics_ranking": ["positive"],
    "plx_metrics_table": ["datasets"],
    "plx_metrics_value": ["defined"],
    "plx_metrics_views": ["truth"],
    "plx_missing_simulate": ["options"],
    "plx_model_json": ["data"],
    "plx_dataset_set_view_text": ["options"],
    "plx_prediction_write": ["data"],
    "plx_report_create": ["command"],
    "plx_report_add_data": ["prediction"],
    "plx_report_add_explanation": ["method"],
    "plx_report_add_setting": ["otherwise"],
    "plx_retrieval_write": ["queries", "items"],
    "plx_retrieve": ["options"],
    "plx_ner_bootstrap": ["params", "options"],
    "plx_ner_eval": ["scheme"],
    "plx_ner_select": ["params"],
    "plx_ner_select_probs": ["params"],
    "plx_ner_simulate": ["params", "options"],
    "plx_ner_tag": ["options"],
    "plx_ner_tag_file": ["options"],
    "plx_ner_train": ["params", "options"],
    "plx_ner_words": ["sentences"],
    "plx_tune": ["params", "options"],
    "plx_views": ["options"],
}
# What a getter gives for NULL and for what is out of range where that is not 0 or NULL.
NEUTRAL = {
    "plx_context_error": '""',
    "plx_dataset_name": '""',
    "plx_model_method": '""',
    "plx_status_name": '"PLX_E_?"',
    "plx_comparison_value": "NAN",
    "plx_conll_document": "-1",
    "plx_conll_sentence": "-1",
    "plx_dataset_find_view": "-1",
    "plx_explanation_find": "-1",
    "plx_explanation_number": "NAN",
    "plx_metrics_find": "-1",
    "plx_metrics_value": "NAN",
    "plx_model_member_agreement": "NAN",
    "plx_model_objective": "NAN",
    "plx_retrieval_item": "-1",
    "plx_retrieval_rank": "NAN",
    "plx_retrieval_similarity": "NAN",
    "plx_tuning_chosen": "-1",
}
# Numbers that are lengths of an array the caller vouches for: only negative ones can be told to be wrong.
LENGTHS = {"n", "count", "n_settings", "n_classes", "n_subset", "n_mutex", "n_top", "n_views", "n_hidden", "n_arrays",
           "n_known", "n_models", "n_paths", "n_data", "n_words", "n_sentences", "bytes"}
# Indices any value of which has a meaning beyond the range (top: all rows of a ranking), or sizes without an array.
ANY_LARGE = {("plx_json_number", "size"), ("plx_json_string", "size"), ("plx_acquisition_write", "top"),
             ("plx_acquisition_table", "top"), ("plx_dataset_create", "n"),
             ("plx_model_tree", "leaves"), ("plx_ner_choice_write", "batch")}
# Out of range here is a fact about the data, not a wrong argument: any error will do.
OTHER_ERROR = {("plx_dataset_min_df", "least")}
# Of use to another program of ours only, or the model here has no tree, or a build without Node has no page: no argument of
# a test is a good one.
NEVER_SUCCEEDS = {"plx_reader_main", "plx_model_tree", "plx_report_write", "plx_report_figure"}
# NULL here needs something else instead: PLX_E_ARG, but the message speaks of both.
EITHER_OR = {("plx_dataset_read", "path"), ("plx_dataset_save", "path")}
# Enumerations that are not looked up: any number is a level.
WRITTEN_ONLY = {"plx_context_set_log"}


def option_structs(headers):
    """Structs a function is handed by pointer that begin with struct_size."""
    return {name: fields for h in headers for name, fields in h.structs.items() if fields and fields[0][1] == "struct_size"}


class Calls:
    def __init__(self, headers):
        self.enums = {name: values for h in headers for name, values in h.enums.items()}
        self.options = option_structs(headers)

    def struct_of(self, kind):
        name = kind.removeprefix("const ").removesuffix("*").strip()
        return name if name in self.options else None

    def value(self, function, p):
        for table, key in ((BY_FUNCTION, (function.name, p.name)), (BY_NAME, (p.type, p.name)), (BY_TYPE, p.type)):
            if key in table:
                return table[key]
        if p.type in self.enums:
            return self.enums[p.type][0]
        if self.struct_of(p.type):
            return f"&{p.name}_options"
        if p.type.endswith("**") or p.type in ("plx_cmat *", "plx_ccsr *", *(e + " *" for e in self.enums)):
            return "(void *)d->room"
        raise public_headers.HeaderError(f"{function.name}: no value is known for '{p.type} {p.name}'; add one to gen_border.py")

    # ---- the ways to go wrong with one parameter: (description, C statement, expectation) ----

    def faults(self, f, p):
        optional = p.name in OPTIONAL.get(f.name, [])
        if p.is_pointer or p.type.endswith("_fn"):
            refused = "RANGE_REFUSED" if (f.name, p.name) in EITHER_OR else "NULL_REFUSED"
            yield "NULL", f"{p.name} = NULL;", "FINE" if optional else refused
        if p.type == "const char *const *":
            yield "{NULL, ...}", f"{p.name} = border_hollow();", "ALIVE"
        if self.struct_of(p.type):
            yield from self.option_faults(p)
        elif p.type == "plx_index":
            for text in ("INT64_MIN", "-1"):
                yield text, f"{p.name} = {text};", "RANGE_REFUSED"
            if p.name not in LENGTHS and (f.name, p.name) not in ANY_LARGE:
                expect = "REFUSED" if (f.name, p.name) in OTHER_ERROR else "RANGE_REFUSED"
                yield "INT64_MAX", f"{p.name} = INT64_MAX;", expect
        elif p.type in self.enums:
            for text in ("INT_MIN", "-1" if p.type != "plx_status" else "1", "INT_MAX"):
                yield text, f"{p.name} = ({p.type}){text};", "FINE" if f.name in WRITTEN_ONLY else "RANGE_REFUSED"
        elif p.type == "plx_cmat":
            yield from self.field_faults(p, ("data = NULL", "rows = -1", "cols = -1", "ld = -1"))
        elif p.type == "plx_ccsr":
            yield from self.field_faults(p, ("ptr = NULL", "col = NULL", "val = NULL", "rows = -1", "cols = -1"))
        elif p.type in ("int", "int64_t"):
            for text in ("INT_MIN", "-1", "INT_MAX"):
                yield text, f"{p.name} = {text};", "ALIVE"
        elif p.type == "double":
            for text in ("NAN", "-INFINITY", "INFINITY", "-1.0"):
                yield text, f"{p.name} = {text};", "ALIVE"

    @staticmethod
    def field_faults(p, faults):
        for fault in faults:
            yield fault, f"{p.name}.{fault};", "REFUSED"

    def option_faults(self, p):
        name = self.struct_of(p.type)
        local = f"{name} bad_{p.name} = *{p.name};"

        def fault(statement, expect):
            return f"->{statement}", f"{local} bad_{p.name}.{statement}; {p.name} = &bad_{p.name};", expect
        yield fault("struct_size = 0", "REFUSED")
        yield fault("struct_size = SIZE_MAX", "REFUSED")
        if not p.type.startswith("const"):  # filled by the function: what else is in it does not matter
            return
        for kind, field in self.options[name]:
            if kind == "plx_index":
                yield fault(f"{field} = INT64_MIN", "REFUSED")
                yield fault(f"{field} = -1", "REFUSED")
            elif kind in self.enums:
                yield fault(f"{field} = ({kind})-1", "REFUSED")
                yield fault(f"{field} = ({kind})INT_MAX", "REFUSED")
            elif kind in ("int", "int64_t"):
                yield fault(f"{field} = INT_MIN", "ALIVE")
            elif kind == "double":
                yield fault(f"{field} = NAN", "REFUSED")
                yield fault(f"{field} = -1", "REFUSED")

    # ---- one function ----

    def expectation(self, f, p, expect):
        context = next((q.name for q in f.params if q.type in ("plx_context *", "plx_metrics *")), None)
        if f.type == "plx_status":
            if expect == "NULL_REFUSED":
                told = "false" if context in (None, p.name) else "true"
                return f'border_refused(d, r, {told} ? "\'{p.name}\'" : NULL);'
            return {"RANGE_REFUSED": "border_refused(d, r, NULL);", "REFUSED": "border_failed(d, r);",
                    "FINE": "border_ok(d, r);", "ALIVE": "(void)r;"}[expect]
        if expect in ("FINE", "ALIVE") or f.type == "void":
            return "" if f.type == "void" else "(void)r;"
        neutral = NEUTRAL.get(f.name)
        if f.type == "const char *":
            return f"border_text(r, {neutral or 'NULL'});"
        if f.type.endswith("*"):
            return "border_null(r);"
        if f.type == "plx_cmat":
            return "border_empty(r);"
        return f"border_number((double)r, {neutral or '0'});"

    def cleared(self, f, p, expect):
        """A call that fails leaves NULL where it hands an object out."""
        slot = next((q for q in f.params if q.type.endswith("**") and self.value(f, q) == "(void *)d->room"), None)
        return " border_null(d->room[0]);" if slot and slot != p and expect.endswith("REFUSED") else ""

    def function(self, f):
        out = [f"static void call_{f.name}(desk *d, int variant)", "{"]
        for p in f.params:
            if self.struct_of(p.type) and self.value(f, p) == f"&{p.name}_options":
                name = self.struct_of(p.type)
                out.append(f"    static {name} {p.name}_options = {name.upper()}_INIT;")
        for p in f.params:
            out.append(f"    {p.type} {p.name} = {self.value(f, p)};")
        cases = [(p, *fault) for p in f.params for fault in self.faults(f, p)]
        result = "" if f.type == "void" else f"{f.type} r = "
        call = f"{result}{f.name}({', '.join(p.name for p in f.params)});"
        out.append("    switch (variant) {")
        out.append("    case 0: {")
        out.append(f"        {call}")
        out.append(f"        {'(void)r;' if f.name in NEVER_SUCCEEDS else 'border_ok(d, r);' if f.type == 'plx_status' else '' if f.type == 'void' else '(void)r;'}")
        out.append("        break;")
        out.append("    }")
        for number, (p, _, statement, expect) in enumerate(cases, 1):
            out += [f"    case {number}: {{", f"        {statement}", f"        {call}",
                    f"        {self.expectation(f, p, expect)}{self.cleared(f, p, expect)}", "        break;", "    }"]
        out += ["    default: break;", "    }", "    (void)d;", "}", ""]
        names = ['"as it should be"'] + [f'"{p.name} {"" if what.startswith("->") else "= "}{what}"' for p, what, _, _ in cases]
        out.append(f"static const char *const variants_{f.name}[] = {{{', '.join(names)}, NULL}};")
        out.append("")
        return out


def main():
    headers = public_headers.read_all()
    calls = Calls(headers)
    lines = ["/* Written by gen_border.py from tools/symbols.txt and the public headers. */", '#include "border_desk.h"', ""]
    functions = [f for h in headers for f in h.functions]
    known = {f.name: {p.name for p in f.params} for f in functions}
    for name, arg in [*BY_FUNCTION, *((n, a) for n, args in OPTIONAL.items() for a in args)]:
        if arg not in known.get(name, ()):
            raise public_headers.HeaderError(f"gen_border.py speaks of '{arg}' of {name}, which does not exist")
    for f in functions:
        lines += calls.function(f)
    lines.append("const border_function BORDER_FUNCTIONS[] = {")
    lines += [f'    {{"{f.name}", call_{f.name}, variants_{f.name}}},' for f in functions]
    lines += ["    {NULL, NULL, NULL},", "};", ""]
    pathlib.Path(sys.argv[1]).write_text("\n".join(lines))


if __name__ == "__main__":
    try:
        main()
    except public_headers.HeaderError as e:
        sys.exit(f"gen_border.py: {e}")
