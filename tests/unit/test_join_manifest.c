/*
 * Data set directories: joining views by id, labels by line and by id, the refusals of the manifest, writing and
 * reading back.
 */
#include "fit_helpers.h"

#include <zlib.h>

typedef struct desk {
    plx_context *ctx;
    char directory[64];
    plx_dataset *data;
} desk;

static void open_desk(desk *k)
{
    k->ctx = test_context(1);
    k->data = NULL;
    make_directory(k->directory);
    write_file(k->directory, "a.csv", "1,2\n3,4\n5,6\n");
    write_file(k->directory, "a.ids", "p\nq\nr\n");
    write_file(k->directory, "b.csv", "id,u,v,w\nr,1,0,2\ns,0,3,0\np,4,0,0\n");
    write_file(k->directory, "b.mtx", "%%MatrixMarket matrix coordinate real general\n3 2 2\n1 2 7\n3 1 8\n");
}

static void close_desk(desk *k)
{
    plx_dataset_destroy(k->data);
    remove_directory(k->directory);
    plx_context_destroy(k->ctx);
}

static plx_status read_manifest(desk *k, const char *json, plx_join join)
{
    plx_read_options o = PLX_READ_OPTIONS_INIT;
    plx_dataset_destroy(k->data);
    write_file(k->directory, "dataset.json", json);
    o.join = join;
    return plx_dataset_read(&k->data, k->ctx, k->directory, &o);
}

static double value(const plx_dataset *d, plx_index view, plx_index i, plx_index j)
{
    plx_cmat m;
    if (plx_dataset_dense(&m, d, view) == PLX_OK) return m.data[i * m.ld + j];
    plx_ccsr s;
    assert_int_equal(plx_dataset_sparse(&s, d, view), PLX_OK);
    for (int64_t p = s.ptr[i]; p < s.ptr[i + 1]; p++)
        if (s.col[p] == j) return s.val[p];
    return 0;
}

/* ---- joining ---- */

static const char JOINED[] =
    "{\"parallax\": 1, \"name\": \"toy\", \"views\": ["
    "{\"name\": \"a\", \"file\": \"a.csv\", \"kind\": \"real\", \"ids\": \"a.ids\"},"
    "{\"name\": \"b\", \"file\": \"b.csv\", \"kind\": \"counts\", \"id\": \"id\", \"cost\": 2.5}]}";

/* a has p q r, b has r s p: the union is p q r s, q lacks b, s lacks a. */
static void union_keeps_everybody(void **state)
{
    (void)state;
    desk k;
    plx_view_info info = PLX_VIEW_INFO_INIT;
    open_desk(&k);
    assert_ok(k.ctx, read_manifest(&k, JOINED, PLX_JOIN_UNION));
    assert_string_equal(plx_dataset_name(k.data), "toy");
    assert_int_equal(plx_dataset_samples(k.data), 4);
    const char *ids[] = {"p", "q", "r", "s"};
    for (int i = 0; i < 4; i++) assert_string_equal(plx_dataset_id(k.data, i), ids[i]);
    const uint8_t a[] = {1, 1, 1, 0}, b[] = {1, 0, 1, 1};
    assert_memory_equal(plx_dataset_present(k.data, 0), a, 4);
    assert_memory_equal(plx_dataset_present(k.data, 1), b, 4);
    assert_true(value(k.data, 0, 2, 1) == 6 && value(k.data, 0, 3, 0) == 0);
    assert_true(value(k.data, 1, 0, 0) == 4 && value(k.data, 1, 3, 1) == 3 && value(k.data, 1, 2, 2) == 2);
    assert_string_equal(plx_dataset_feature(k.data, 1, 2), "w");
    assert_ok(k.ctx, plx_dataset_view_info(&info, k.data, 1));
    assert_true(info.cost == 2.5 && info.kind == PLX_VIEW_COUNTS);
    close_desk(&k);
}

static void intersection_keeps_the_common(void **state)
{
    (void)state;
    desk k;
    open_desk(&k);
    assert_ok(k.ctx, read_manifest(&k, JOINED, PLX_JOIN_INTERSECTION));
    assert_int_equal(plx_dataset_samples(k.data), 2);
    assert_string_equal(plx_dataset_id(k.data, 0), "p");
    assert_string_equal(plx_dataset_id(k.data, 1), "r");
    assert_true(value(k.data, 0, 1, 0) == 5 && value(k.data, 1, 1, 0) == 1);
    write_file(k.directory, "a.ids", "x\ny\nz\n");
    assert_fails(k.ctx, read_manifest(&k, JOINED, PLX_JOIN_INTERSECTION), PLX_E_DATA,
                 "no sample id occurs in every view");
    close_desk(&k);
}

/* The list of the whole data set fixes the samples and their order; rows of others are left out. */
static void a_given_list_fixes_the_samples(void **state)
{
    (void)state;
    desk k;
    open_desk(&k);
    write_file(k.directory, "ids.txt", "r\nt\np\n");
    assert_ok(k.ctx, read_manifest(&k,
                                   "{\"parallax\": 1, \"ids\": \"ids.txt\", \"views\": ["
                                   "{\"name\": \"a\", \"file\": \"a.csv\", \"ids\": \"a.ids\"},"
                                   "{\"name\": \"c\", \"file\": \"b.mtx\"}]}",
                                   PLX_JOIN_UNION));
    assert_int_equal(plx_dataset_samples(k.data), 3);
    assert_string_equal(plx_dataset_id(k.data, 1), "t");
    const uint8_t a[] = {1, 0, 1};
    assert_memory_equal(plx_dataset_present(k.data, 0), a, 3);
    assert_true(value(k.data, 0, 0, 0) == 5 && value(k.data, 0, 2, 0) == 1);
    assert_true(value(k.data, 1, 0, 1) == 7 && value(k.data, 1, 2, 0) == 8); /* rows correspond */
    close_desk(&k);
}

static void ids_must_be_sound(void **state)
{
    (void)state;
    desk k;
    open_desk(&k);
    write_file(k.directory, "a.ids", "p\nq\np\n");
    assert_fails(k.ctx, read_manifest(&k, JOINED, PLX_JOIN_UNION), PLX_E_DATA, "duplicate id 'p' in rows 1 and 3");
    write_file(k.directory, "a.ids", "p\n\nr\n");
    assert_fails(k.ctx, read_manifest(&k, JOINED, PLX_JOIN_UNION), PLX_E_DATA, "row 2 has an empty id");
    write_file(k.directory, "a.ids", "p\nq\n");
    assert_fails(k.ctx, read_manifest(&k, JOINED, PLX_JOIN_UNION), PLX_E_DATA,
                 "a.ids has 2 lines, expected 3 (one per row)");
    assert_fails(k.ctx,
                 read_manifest(&k,
                               "{\"parallax\": 1, \"views\": [{\"name\": \"a\", \"file\": \"a.csv\"},"
                               "{\"name\": \"b\", \"file\": \"b.csv\", \"id\": \"id\"}]}",
                               PLX_JOIN_UNION),
                 PLX_E_DATA, "view 'a' has no sample ids");
    write_file(k.directory, "ids.txt", "p\np\nq\n");
    assert_fails(k.ctx,
                 read_manifest(
                     &k, "{\"parallax\": 1, \"ids\": \"ids.txt\", \"views\": [{\"name\": \"a\", \"file\": \"a.csv\"}]}",
                     PLX_JOIN_UNION),
                 PLX_E_DATA, "'p' (lines 1 and 2");
    close_desk(&k);
}

/* ---- labels, presence, hierarchy, costs ---- */

static void labels_by_line_and_by_id(void **state)
{
    (void)state;
    desk k;
    open_desk(&k);
    write_file(k.directory, "labels.txt", "red\n?\nblue\n?\n");
    write_file(k.directory, "truth.csv", "id,other,label\ns,1,red\np,2,blue\nnobody,3,green\n");
    char json[512];
    snprintf(json, sizeof json, "%.*s, \"labels\": \"labels.txt\", \"truth\": \"truth.csv\"}", (int)strlen(JOINED) - 1,
             JOINED);
    assert_ok(k.ctx, read_manifest(&k, json, PLX_JOIN_UNION));
    assert_string_equal(plx_dataset_label(k.data, 0), "red");
    assert_null(plx_dataset_label(k.data, 1));
    assert_string_equal(plx_dataset_truth(k.data, 3), "red");
    assert_string_equal(plx_dataset_truth(k.data, 0), "blue");
    assert_null(plx_dataset_truth(k.data, 1));
    write_file(k.directory, "labels.txt", "red\n?\nblue\n");
    assert_fails(k.ctx, read_manifest(&k, json, PLX_JOIN_UNION), PLX_E_DATA, "labels.txt has 3 lines, expected 4");
    write_file(k.directory, "labels.txt", "red\n\nblue\n?\n");
    assert_fails(k.ctx, read_manifest(&k, json, PLX_JOIN_UNION), PLX_E_FORMAT, "line 2 is empty");
    write_file(k.directory, "labels.txt", "red\n?\nblue\n?\n");
    write_file(k.directory, "truth.csv", "id,class\np,red\n");
    assert_fails(k.ctx, read_manifest(&k, json, PLX_JOIN_UNION), PLX_E_FORMAT, "columns id and label");
    write_file(k.directory, "truth.csv", "id,label\np,red\nq,blue\np,blue\n");
    assert_fails(k.ctx, read_manifest(&k, json, PLX_JOIN_UNION), PLX_E_DATA, "duplicate id 'p'");
    write_file(k.directory, "truth.csv", "id,label\np,red\n");
    assert_fails(k.ctx,
                 read_manifest(
                     &k,
                     "{\"parallax\": 1, \"truth\": \"truth.csv\", \"views\": [{\"name\": \"a\", \"file\": \"a.csv\"}]}",
                     PLX_JOIN_UNION),
                 PLX_E_DATA, "labels by id need sample ids");
    close_desk(&k);
}

static void presence_hierarchy_and_costs(void **state)
{
    (void)state;
    static const char json[] =
        "{\"parallax\": 1, \"labels\": \"l.txt\", \"hierarchy\": \"h.json\", \"costs\": {\"label\": 3, \"samples\": "
        "\"c.csv\"},"
        "\"views\": [{\"name\": \"a\", \"file\": \"a.csv\", \"present\": \"p.txt\", \"features\": \"f.txt\"}]}";
    desk k;
    open_desk(&k);
    write_file(k.directory, "p.txt", "1\n0\n1\n");
    write_file(k.directory, "f.txt", "left\nright\n");
    write_file(k.directory, "c.csv", "1\n2\n0.5\n");
    write_file(k.directory, "l.txt", "apple|food\n?\norg\n");
    write_file(k.directory, "h.json",
               "{\"classes\": [\"org\", \"food\", \"apple\"], \"subset\": [[\"apple\", \"food\"]], \"mutex\": "
               "[[\"org\", \"food\"]]}");
    assert_ok(k.ctx, read_manifest(&k, json, PLX_JOIN_UNION));
    const int32_t *pairs = NULL;
    assert_int_equal(plx_dataset_subset(&pairs, k.data), 1);
    assert_true(pairs[0] == 2 && pairs[1] == 1);
    assert_string_equal(plx_dataset_class(k.data, 0), "org");
    assert_int_equal(plx_dataset_present(k.data, 0)[1], 0);
    assert_string_equal(plx_dataset_feature(k.data, 0, 1), "right");
    assert_true(plx_dataset_label_cost(k.data) == 3 && plx_dataset_sample_cost(k.data, 2) == 0.5);
    write_file(k.directory, "p.txt", "1\n0\n");
    assert_fails(k.ctx, read_manifest(&k, json, PLX_JOIN_UNION), PLX_E_DATA, "p.txt has 2 lines, expected 3");
    write_file(k.directory, "p.txt", "1\n0\nyes\n");
    assert_fails(k.ctx, read_manifest(&k, json, PLX_JOIN_UNION), PLX_E_FORMAT, "line 3: found 'yes', expected 0 or 1");
    write_file(k.directory, "p.txt", "1\n0\n1\n");
    write_file(k.directory, "f.txt", "left\n");
    assert_fails(k.ctx, read_manifest(&k, json, PLX_JOIN_UNION), PLX_E_DATA,
                 "f.txt has 1 lines, expected 2 (one per column)");
    write_file(k.directory, "f.txt", "left\nright\n");
    static const char *const bad[][2] = {
        {"{\"classes\": [\"org\", \"food\", \"apple\"], \"subset\": [[\"apple\", \"fruit\"]]}",
         "unknown class 'fruit'"},
        {"{\"classes\": [\"org\", \"food\", \"apple\"], \"subset\": [[\"apple\"]]}", "pair 1"},
        {"{\"classes\": [\"org\", \"food\", \"apple\"], \"subset\": 3}", "subset"},
        {"{\"classes\": [\"org\", \"food\", \"apple\"], \"subsets\": []}", "did you mean 'subset'"},
        {"{\"classes\": \"org\"}", "list of names"},
        {"{\"classes\": [1]}", "class 1"},
        {"[]", "object"},
        {"{\"classes\": [\"org\", \"food\"]}", "apple"},
        {"{\"classes\": ", "h.json"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_file(k.directory, "h.json", bad[i][0]);
        plx_status st = read_manifest(&k, json, PLX_JOIN_UNION);
        assert_true(st == PLX_E_FORMAT || st == PLX_E_DATA);
        if (!strstr(plx_context_error(k.ctx), bad[i][1]))
            fail_msg("'%s' lacks '%s'", plx_context_error(k.ctx), bad[i][1]);
        assert_null(k.data);
    }
    close_desk(&k);
}

/* ---- refusals of the manifest itself ---- */

static void bad_manifests_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *json, *word;
    } bad[] = {
        {"", "dataset.json"},
        {"[1]", "object"},
        {"{\"views\": []}", "\"parallax\": 1 is missing"},
        {"{\"parallax\": \"1\", \"views\": []}", "\"parallax\": 1 is missing"},
        {"{\"parallax\": 2, \"views\": []}", "version 2"},
        {"{\"parallax\": 1}", "at least one view"},
        {"{\"parallax\": 1, \"views\": []}", "at least one view"},
        {"{\"parallax\": 1, \"views\": {}}", "at least one view"},
        {"{\"parallax\": 1, \"view\": []}", "unknown key \"view\"; did you mean 'views'?"},
        {"{\"parallax\": 1, \"name\": 3, \"views\": []}", "\"name\" must be a text"},
        {"{\"parallax\": 1, \"views\": [3]}", "view 1: expected an object"},
        {"{\"parallax\": 1, \"views\": [{\"file\": \"a.csv\"}]}", "view 1: \"name\" is missing"},
        {"{\"parallax\": 1, \"views\": [{\"name\": \"a\"}]}", "view 'a': \"file\" is missing"},
        {"{\"parallax\": 1, \"views\": [{\"name\": \"a\", \"file\": \"a.csv\", \"fiel\": 1}]}",
         "view 'a': unknown key \"fiel\"; did you mean 'file'?"},
        {"{\"parallax\": 1, \"views\": [{\"name\": \"a\", \"file\": \"a.csv\", \"kind\": \"count\"}]}",
         "kind \"count\""},
        {"{\"parallax\": 1, \"views\": [{\"name\": \"a\", \"file\": \"a.csv\", \"header\": 1}]}",
         "\"header\" must be true or false"},
        {"{\"parallax\": 1, \"views\": [{\"name\": \"a\", \"file\": \"a.csv\", \"cost\": \"1\"}]}",
         "\"cost\" must be a number"},
        {"{\"parallax\": 1, \"views\": [{\"name\": \"a\", \"file\": \"a.csv\", \"cost\": 0}]}", "must be > 0"},
        {"{\"parallax\": 1, \"views\": [{\"name\": \"a\", \"file\": \"gone.csv\"}]}", "gone.csv"},
        {"{\"parallax\": 1, \"views\": [{\"name\": \"a.b\", \"file\": \"a.csv\"}]}", "view name"},
        {"{\"parallax\": 1, \"views\": [{\"name\": \"a\", \"file\": \"a.csv\"}, {\"name\": \"a\", \"file\": "
         "\"a.csv\"}]}",
         "duplicate view name"},
        {"{\"parallax\": 1, \"views\": [{\"name\": \"a\", \"file\": \"a.csv\"}], \"costs\": {\"lable\": 1}}",
         "costs: unknown key \"lable\""},
        {"{\"parallax\": 1, \"views\": [{\"name\": \"a\", \"file\": \"a.csv\"}], \"costs\": 3}", "costs"},
        {"{\"parallax\": 1, \"views\": [{\"name\": \"a\", \"file\": \"a.csv\"}], \"labels\": \"gone.txt\"}",
         "gone.txt"},
    };
    desk k;
    open_desk(&k);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        plx_status st = read_manifest(&k, bad[i].json, PLX_JOIN_UNION);
        if (st == PLX_OK) fail_msg("accepted: %s", bad[i].json);
        if (!strstr(plx_context_error(k.ctx), bad[i].word))
            fail_msg("'%s' lacks '%s'", plx_context_error(k.ctx), bad[i].word);
        assert_null(k.data);
    }
    assert_fails(k.ctx, plx_dataset_read(&k.data, k.ctx, "/nonexistent/place", NULL), PLX_E_IO, "/nonexistent/place");
    close_desk(&k);
}

static void wrong_numbers_of_rows_are_told(void **state)
{
    (void)state;
    desk k;
    open_desk(&k);
    write_file(k.directory, "c.csv", "1\n2\n");
    assert_fails(k.ctx,
                 read_manifest(&k,
                               "{\"parallax\": 1, \"views\": [{\"name\": \"a\", \"file\": \"a.csv\"}, {\"name\": "
                               "\"c\", \"file\": \"c.csv\"}]}",
                               PLX_JOIN_UNION),
                 PLX_E_DATA, "view 'c' has 2 rows, expected 3");
    close_desk(&k);
}

/* ---- files ---- */

static void gzipped_parts_are_read(void **state)
{
    (void)state;
    desk k;
    char path[96];
    open_desk(&k);
    snprintf(path, sizeof path, "%s/z.csv.gz", k.directory);
    gzFile z = gzopen(path, "wb");
    assert_int_equal(gzputs(z, "1.5,2\n3,4\n5,6\n"), 14);
    gzclose(z);
    snprintf(path, sizeof path, "%s/l.txt.gz", k.directory);
    z = gzopen(path, "wb");
    assert_int_equal(gzputs(z, "x\ny\n?\n"), 6);
    gzclose(z);
    assert_ok(k.ctx,
              read_manifest(
                  &k,
                  "{\"parallax\": 1, \"labels\": \"l.txt.gz\", \"views\": [{\"name\": \"z\", \"file\": \"z.csv.gz\"}]}",
                  PLX_JOIN_UNION));
    assert_true(value(k.data, 0, 0, 0) == 1.5 && value(k.data, 0, 2, 1) == 6);
    assert_string_equal(plx_dataset_label(k.data, 1), "y");
    close_desk(&k);
}

static void written_data_sets_come_back(void **state)
{
    (void)state;
    desk k;
    char path[96];
    plx_dataset *back = NULL;
    open_desk(&k);
    write_file(k.directory, "t.txt", "x|y\n?\n\ny\n");
    char json[512];
    snprintf(json, sizeof json, "%.*s, \"truth\": \"t.txt\"}", (int)strlen(JOINED) - 1, JOINED);
    assert_ok(k.ctx, read_manifest(&k, json, PLX_JOIN_UNION));
    snprintf(path, sizeof path, "%s/copy", k.directory);
    assert_ok(k.ctx, plx_dataset_write(k.ctx, k.data, path));
    assert_ok(k.ctx, plx_dataset_read(&back, k.ctx, path, NULL));
    for (plx_index i = 0; i < 4; i++) {
        assert_string_equal(plx_dataset_id(back, i), plx_dataset_id(k.data, i));
        for (plx_index v = 0; v < 2; v++) {
            assert_int_equal(plx_dataset_present(back, v)[i], plx_dataset_present(k.data, v)[i]);
            for (plx_index j = 0; j < (v ? 3 : 2); j++) assert_true(value(back, v, i, j) == value(k.data, v, i, j));
        }
    }
    assert_string_equal(plx_dataset_truth(back, 0), "x|y");
    assert_string_equal(plx_dataset_feature(back, 1, 0), "u");
    assert_fails(k.ctx, plx_dataset_write(k.ctx, k.data, path), PLX_E_IO, path); /* there already */
    plx_dataset_destroy(back);
    close_desk(&k);
}

static void refused_memory_leaves_nothing(void **state)
{
    (void)state;
    desk k;
    open_desk(&k);
    write_file(k.directory, "dataset.json", JOINED);
    for (long at = 1;; at++) {
        meter m = {0, 0, 0};
        plx_context *ctx = metered_context(&m, 1);
        plx_dataset *d = NULL;
        long before = m.live;
        m.calls = 0;
        m.fail_at = at;
        plx_status st = plx_dataset_read(&d, ctx, k.directory, NULL);
        bool reached = m.calls >= at;
        if (st != (reached ? PLX_E_NOMEM : PLX_OK))
            fail_msg("allocation %ld refused: %s %s", at, plx_status_name(st), plx_context_error(ctx));
        if (st != PLX_OK) assert_true(!d && m.live == before && plx_context_error(ctx)[0]);
        plx_dataset_destroy(d);
        plx_context_destroy(ctx);
        assert_int_equal(m.live, 0);
        if (!reached) break;
    }
    close_desk(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(union_keeps_everybody),          cmocka_unit_test(intersection_keeps_the_common),
        cmocka_unit_test(a_given_list_fixes_the_samples), cmocka_unit_test(ids_must_be_sound),
        cmocka_unit_test(labels_by_line_and_by_id),       cmocka_unit_test(presence_hierarchy_and_costs),
        cmocka_unit_test(bad_manifests_are_refused),      cmocka_unit_test(wrong_numbers_of_rows_are_told),
        cmocka_unit_test(gzipped_parts_are_read),         cmocka_unit_test(written_data_sets_come_back),
        cmocka_unit_test(refused_memory_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
