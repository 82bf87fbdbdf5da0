/*
 * Trees as Newick and as JSON.
 */
#include <math.h>
#include <string.h>

#include "api/tree_impl.h"

/* ---- Newick ---- */

/* Quoted where a reader could take a character for punctuation. */
static void add_name(plx__textbuf *out, const char *name, plx_index more)
{
    bool plain = name[0] && strcspn(name, " \t\r\n()[]{}':;,\"") == strlen(name);
    if (!plain) plx__textbuf_add(out, "'");
    for (const char *c = name; *c; c++) {
        if (*c == '\'') plx__textbuf_add(out, "'");
        plx__textbuf_addn(out, *c == '\n' || *c == '\r' || *c == '\t' ? " " : c, 1);
    }
    if (more > 0) plx__textbuf_printf(out, "+%lld", (long long)more);
    if (!plain) plx__textbuf_add(out, "'");
}

/* Behind a node: its view, and how far below its parent it is. Where costs fall the length is 0. */
static void end_node(plx__textbuf *out, const plx__tree *t, plx_index node, plx_index parent)
{
    if (plx__tree_is_split(t, node) && t->view) add_name(out, t->model->views[t->view[node - t->n]].name, 0);
    if (parent < 0) return;
    plx__textbuf_add(out, ":");
    plx__textbuf_double(out, fmax(plx__tree_height(t, parent) - plx__tree_height(t, node), 0));
}

/* `order` is depth first, so a node is closed when its second child is: `open` holds the way to the root. */
void plx__tree_newick(plx__textbuf *out, const plx__tree *t, const plx_index *order, plx_index count)
{
    plx_index depth = 0, *open = NULL;
    uint8_t *seen = NULL; /* children of every open node so far */
    plx__arena *scratch = plx__scratch(out->arena->ctx);
    if (out->status == PLX_OK) out->status = plx__arena_i64(&open, scratch, t->n);
    if (out->status == PLX_OK) out->status = plx__arena_u8(&seen, scratch, t->n);
    if (out->status != PLX_OK) return;
    for (plx_index q = 0; q < count; q++) {
        plx_index node = order[q];
        if (plx__tree_is_split(t, node)) {
            plx__textbuf_add(out, "(");
            seen[depth] = 0;
            open[depth++] = node;
            continue;
        }
        add_name(out, plx__tree_name(t, t->smallest[node]), plx__tree_size(t, node) - 1);
        end_node(out, t, node, depth ? open[depth - 1] : -1);
        while (depth > 0 && ++seen[depth - 1] == 2) {
            depth--;
            plx__textbuf_add(out, ")");
            end_node(out, t, open[depth], depth ? open[depth - 1] : -1);
        }
        if (depth > 0) plx__textbuf_add(out, ",");
    }
    plx__textbuf_add(out, ";\n");
}

/* ---- JSON ---- */

static void add_json_text(plx__textbuf *out, const char *text)
{
    const char *safe = text;
    if (out->status == PLX_OK) out->status = plx__utf8(&safe, plx__scratch(out->arena->ctx), text);
    plx__textbuf_add(out, "\"");
    for (const char *c = safe; *c; c++) {
        if (*c == '"' || *c == '\\') plx__textbuf_add(out, "\\");
        if ((unsigned char)*c < 0x20) plx__textbuf_printf(out, "\\u%04x", (unsigned)*c);
        else plx__textbuf_addn(out, c, 1);
    }
    plx__textbuf_add(out, "\"");
}

static void add_json_number(plx__textbuf *out, const char *key, double value)
{
    plx__textbuf_printf(out, ", \"%s\": ", key);
    if (isfinite(value)) plx__textbuf_double(out, value);
    else plx__textbuf_add(out, "null");
}

static void add_split(plx__textbuf *out, const plx__tree *t, plx_index node)
{
    plx_index r = node - t->n;
    plx__textbuf_printf(out, ", \"children\": [%lld, %lld]", (long long)t->child[2 * r],
                        (long long)t->child[2 * r + 1]);
    if (!t->view) return;
    plx__textbuf_add(out, ", \"view\": ");
    add_json_text(out, t->model->views[t->view[r]].name);
    add_json_number(out, "goodness", t->goodness[r]);
    add_json_number(out, "explained", t->explained[r]);
}

/* A list of nodes, the root first: nesting would be as deep as the tree. */
void plx__tree_json(plx__textbuf *out, const plx__tree *t, const plx_index *order, plx_index count)
{
    plx__textbuf_printf(out, "{\"method\": \"%s\", \"samples\": %lld, \"root\": %lld,\n \"views\": [",
                        t->model->method->name, (long long)t->n, (long long)t->root);
    for (plx_index v = 0; v < t->model->n_views; v++) {
        if (v) plx__textbuf_add(out, ", ");
        add_json_text(out, t->model->views[v].name);
    }
    plx__textbuf_add(out, "],\n \"nodes\": [\n");
    for (plx_index q = 0; q < count; q++) {
        plx_index node = order[q];
        plx__textbuf_printf(out, "  {\"id\": %lld, \"size\": %lld", (long long)node,
                            (long long)plx__tree_size(t, node));
        add_json_number(out, "height", plx__tree_height(t, node));
        if (plx__tree_is_split(t, node)) {
            add_split(out, t, node);
        } else {
            plx__textbuf_add(out, ", \"name\": ");
            add_json_text(out, plx__tree_name(t, t->smallest[node]));
        }
        plx__textbuf_add(out, q + 1 < count ? "},\n" : "}\n");
    }
    plx__textbuf_add(out, " ]}\n");
}
