/*
 * Portfolios: who is a member, how the answers are combined, and who is left out.
 */
#include "api/portfolio_impl.h"
#include "compare_helpers.h"
#include "io_test.h"

static plx_dataset *labelled_toy(plx_context *ctx, const char *spec)
{
    plx_dataset *whole = toy_data(ctx, "toy", 1), *seen = NULL;
    uint8_t chosen[TOY_N];
    const char *texts[TOY_N];
    assert_ok(ctx, plx_split_labels(chosen, ctx, whole, spec));
    plx_split_label_texts(texts, whole, chosen);
    assert_ok(ctx, plx_dataset_relabel(&seen, ctx, whole, texts));
    plx_dataset_destroy(whole);
    return seen;
}

/* The softmax of rows that are no distributions, as plx__class_probabilities() has it, written out. */
static void probabilities(double *out, plx_cmat scores)
{
    bool ready = true;
    for (plx_index i = 0; i < scores.rows; i++) {
        double sum = 0, least = 0;
        for (plx_index k = 0; k < scores.cols; k++) {
            sum += scores.data[i * scores.ld + k];
            least = fmin(least, scores.data[i * scores.ld + k]);
        }
        ready &= fabs(sum - 1) < 1e-6 && least >= 0;
    }
    for (plx_index i = 0; i < scores.rows; i++) {
        double sum = 0;
        for (plx_index k = 0; k < scores.cols; k++) {
            double x = scores.data[i * scores.ld + k];
            out[i * scores.cols + k] = ready ? x : exp(x);
            sum += out[i * scores.cols + k];
        }
        for (plx_index k = 0; k < scores.cols; k++) out[i * scores.cols + k] /= sum;
    }
}

/* Every member is as sure as it agrees, and the mean of them is what the portfolio says. */
static void averages_tempered_members(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *data = labelled_toy(ctx, "5");
    plx_model *p = NULL;
    double mean[TOY_N * 3] = {0};
    plx_index members = 0;
    (void)state;
    assert_ok(ctx, plx_fit(&p, ctx, "auto", data, NULL, NULL));
    for (plx_index m = 0; m < plx_model_members(p); m++) {
        double prob[TOY_N * 3], sure = 0, unseen = 0;
        if (!plx_model_member(p, m)) continue;
        members++;
        probabilities(prob, plx_prediction_scores(plx_model_prediction(plx_model_member(p, m))));
        for (int i = 0; i < TOY_N; i++) {
            double sum = 0, top = 0, row[3];
            for (int k = 0; k < 3; k++)
                sum += row[k] = pow(fmax(prob[3 * i + k], 1e-12), p->portfolio->member[m].power);
            for (int k = 0; k < 3; k++) {
                mean[3 * i + k] += row[k] / sum;
                top = fmax(top, row[k] / sum);
            }
            if (plx_dataset_label(data, i)) continue;
            sure += top;
            unseen++;
        }
        double wanted = fmin(0.98, fmax(1.0 / 3 + 0.02, plx_model_member_agreement(p, m)));
        assert_close(sure / unseen, wanted, 1e-6);
    }
    assert_true(members >= 4);
    for (int i = 0; i < TOY_N; i++) {
        int best = 0;
        for (int k = 1; k < 3; k++)
            if (mean[3 * i + k] > mean[3 * i + best] + 1e-12) best = k;
        plx_cmat s = plx_prediction_scores(plx_model_prediction(p));
        for (int k = 0; k < 3; k++) assert_close(s.data[i * s.ld + k], mean[3 * i + k] / (double)members, 1e-9);
        assert_string_equal(plx_prediction_label(plx_model_prediction(p), i),
                            plx_prediction_column(plx_model_prediction(p), best));
    }
    plx_model_destroy(p);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

/* Agreement counted by hand over the samples without a label. */
static void counts_agreement(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *data = labelled_toy(ctx, "4");
    plx_model *p = NULL;
    (void)state;
    assert_ok(ctx, plx_fit(&p, ctx, "auto", data, NULL, NULL));
    const plx_prediction *first = plx_model_prediction(plx_model_member(p, 0));
    double same = 0, all = 0;
    for (plx_index m = 1; m < plx_model_members(p); m++)
        for (int i = 0; plx_model_member(p, m) && i < TOY_N; i++) {
            if (plx_dataset_label(data, i)) continue;
            const plx_prediction *other = plx_model_prediction(plx_model_member(p, m));
            same += strcmp(plx_prediction_label(first, i), plx_prediction_label(other, i)) == 0;
            all++;
        }
    assert_close(plx_model_member_agreement(p, 0), same / all, 1e-15);
    plx_model_destroy(p);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

/* New samples that are the old ones: members without a memory of them may differ, the classes and shapes may not. */
static void labels_new_samples(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *data = labelled_toy(ctx, "8"), *other = toy_data(ctx, "other", 2);
    plx_model *p = NULL;
    plx_prediction *q = NULL;
    int right = 0;
    (void)state;
    assert_ok(ctx, plx_fit(&p, ctx, "auto", data, NULL, NULL));
    assert_ok(ctx, plx_predict(&q, ctx, p, other));
    for (int i = 0; i < TOY_N; i++) right += strcmp(plx_prediction_label(q, i), plx_dataset_truth(other, i)) == 0;
    assert_true(right > TOY_N / 2); /* three classes, guessing would give a third */
    plx_prediction_destroy(q);
    plx_model_destroy(p);
    plx_dataset_destroy(other);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

static void same_answers(const plx_prediction *a, const plx_prediction *b)
{
    plx_cmat x = plx_prediction_scores(a), y = plx_prediction_scores(b);
    assert_int_equal(x.rows, y.rows);
    assert_int_equal(x.cols, y.cols);
    assert_memory_equal(x.data, y.data, (size_t)(x.rows * x.cols) * sizeof *x.data);
    for (plx_index i = 0; i < x.rows; i++) assert_string_equal(plx_prediction_label(a, i), plx_prediction_label(b, i));
}

/* A file holds all members: what is read answers byte for byte like what was written, and so does a single sample. */
static void keeps_all_members_in_one_file(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *data = labelled_toy(ctx, "5"), *other = toy_data(ctx, "other", 2), *one = NULL;
    plx_model *p = NULL, *again = NULL;
    plx_prediction *before = NULL, *after = NULL, *alone = NULL;
    plx_index row = 7;
    char path[SCRATCH_PATH];
    (void)state;
    scratch_path(path, ".plx");
    assert_ok(ctx, plx_fit(&p, ctx, "auto", data, NULL, NULL));
    assert_ok(ctx, plx_model_save(ctx, p, path));
    assert_ok(ctx, plx_model_load(&again, ctx, path));
    assert_string_equal(plx_model_method(again), "auto");
    assert_string_equal(plx_model_reason(again), plx_model_reason(p));
    assert_int_equal(plx_model_members(again), plx_model_members(p));
    for (plx_index i = 0; i < plx_model_members(p); i++) {
        assert_string_equal(plx_model_member_method(again, i), plx_model_member_method(p, i));
        assert_int_equal(!plx_model_member(again, i), !plx_model_member(p, i));
        assert_close(plx_model_member_agreement(again, i), plx_model_member_agreement(p, i), 0);
    }
    assert_ok(ctx, plx_predict(&before, ctx, p, other));
    assert_ok(ctx, plx_predict(&after, ctx, again, other));
    same_answers(before, after);
    assert_ok(ctx, plx_dataset_select(&one, ctx, other, &row, 1));
    assert_ok(ctx, plx_predict(&alone, ctx, again, one));
    plx_cmat all = plx_prediction_scores(after), single = plx_prediction_scores(alone);
    for (plx_index k = 0; k < all.cols; k++) assert_close(single.data[k], all.data[row * all.ld + k], 1e-12);
    plx_prediction_destroy(alone);
    plx_prediction_destroy(after);
    plx_prediction_destroy(before);
    plx_model_destroy(again);
    plx_model_destroy(p);
    plx_dataset_destroy(one);
    plx_dataset_destroy(other);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
    remove(path);
}

/* One whom the data do not suit is left out, in the file too. */
static void keeps_who_was_left_out(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *data = labelled_toy(ctx, "5");
    plx_model *p = NULL, *again = NULL;
    char path[SCRATCH_PATH];
    (void)state;
    scratch_path(path, ".plx");
    assert_ok(ctx, plx_fit(&p, ctx, "auto", data, NULL, NULL));
    plx__member *last = &p->portfolio->member[plx_model_members(p) - 1];
    plx_model_destroy(last->model);
    last->model = NULL;
    last->reason = "does not suit";
    assert_ok(ctx, plx_model_save(ctx, p, path));
    assert_ok(ctx, plx_model_load(&again, ctx, path));
    assert_string_equal(plx_model_member_left_out(again, plx_model_members(p) - 1), "does not suit");
    assert_null(plx_model_member(again, plx_model_members(p) - 1));
    assert_null(plx_model_member_left_out(again, 0));
    plx_model_destroy(again);
    plx_model_destroy(p);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
    remove(path);
}

static void reading_survives(void **state)
{
    bool whole = false;
    plx_context *plain = test_context(1);
    plx_dataset *data = labelled_toy(plain, "3");
    plx_model *p = NULL;
    char path[SCRATCH_PATH];
    (void)state;
    scratch_path(path, ".plx");
    assert_ok(plain, plx_fit(&p, plain, "auto", data, NULL, NULL));
    assert_ok(plain, plx_model_save(plain, p, path));
    plx_model_destroy(p);
    plx_dataset_destroy(data);
    plx_context_destroy(plain);
    for (long at = 1; !whole && at < 100000; at += 1 + at / 20) {
        meter m = {0};
        plx_context *ctx = metered_context(&m, 1);
        m.fail_at = m.calls + at;
        plx_status st = plx_model_load(&p, ctx, path);
        whole = m.calls < m.fail_at;
        m.fail_at = 0;
        assert_int_equal(st, whole ? PLX_OK : PLX_E_NOMEM);
        plx_model_destroy(p);
        plx_context_destroy(ctx);
        assert_int_equal(m.live, 0);
    }
    assert_true(whole);
    remove(path);
}

static void refuses_and_survives(void **state)
{
    bool whole = false;
    plx_model *p = NULL;
    plx_context *plain = test_context(1);
    plx_dataset *bare = toy_data(plain, "toy", 1);
    (void)state;
    assert_fails(plain, plx_fit(&p, plain, "auto", bare, NULL, NULL), PLX_E_DATA, "no labels");
    plx_dataset_destroy(bare);
    plx_context_destroy(plain);
    for (long at = 1; !whole && at < 100000; at += 1 + at / 6) {
        meter m = {0};
        plx_context *ctx = metered_context(&m, 1);
        plx_dataset *data = labelled_toy(ctx, "3");
        m.fail_at = m.calls + at;
        plx_status st = plx_fit(&p, ctx, "auto", data, NULL, NULL);
        whole = m.calls < m.fail_at;
        m.fail_at = 0;
        assert_true(st == PLX_OK || st == PLX_E_NOMEM || st == PLX_E_DATA);
        plx_model_destroy(p);
        plx_dataset_destroy(data);
        plx_context_destroy(ctx);
        assert_int_equal(m.live, 0);
    }
    assert_true(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(averages_tempered_members), cmocka_unit_test(counts_agreement),
        cmocka_unit_test(labels_new_samples),        cmocka_unit_test(keeps_all_members_in_one_file),
        cmocka_unit_test(keeps_who_was_left_out),    cmocka_unit_test(reading_survives),
        cmocka_unit_test(refuses_and_survives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
