/*
 * SVG to PNG by librsvg, which is opened here and nowhere else: nothing is linked or needed to build, and who never asks
 * for a PNG never loads it. Its cairo and GLib are found through it.
 */
#include "png.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARY "librsvg-2.so.2"

enum { CAIRO_RGB = 1, MOST_PIXELS = 32767 }; /* a side of a picture in cairo */

/* Of the public headers of librsvg (2.52 or newer), cairo and GLib, what is used here. */
typedef struct rsvg_rectangle {
    double x, y, width, height;
} rsvg_rectangle;
typedef struct glib_error {
    uint32_t domain;
    int code;
    char *message;
} glib_error;

typedef struct renderer {
    void *(*handle_new_from_file)(const char *file, glib_error **error);
    int (*handle_get_size)(void *handle, double *width, double *height);
    int (*handle_render_document)(void *handle, void *cairo, const rsvg_rectangle *place, glib_error **error);
    void *(*surface_create)(int format, int width, int height);
    void *(*create)(void *surface);
    void (*set_source_rgb)(void *cairo, double red, double green, double blue);
    void (*paint)(void *cairo);
    int (*write_to_png)(void *surface, const char *file);
    void (*destroy)(void *cairo);
    void (*surface_destroy)(void *surface);
    void (*object_unref)(void *object);
} renderer;

/* C knows no way to convert a pointer to a function from what dlsym() gives but by its bytes. */
static bool find(void *library, const char *name, void *pointer)
{
    void *symbol = dlsym(library, name);
    memcpy(pointer, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool open_renderer(renderer *r)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    return library && find(library, "rsvg_handle_new_from_file", &r->handle_new_from_file) &&
           find(library, "rsvg_handle_get_intrinsic_size_in_pixels", &r->handle_get_size) &&
           find(library, "rsvg_handle_render_document", &r->handle_render_document) &&
           find(library, "cairo_image_surface_create", &r->surface_create) &&
           find(library, "cairo_create", &r->create) && find(library, "cairo_set_source_rgb", &r->set_source_rgb) &&
           find(library, "cairo_paint", &r->paint) && find(library, "cairo_surface_write_to_png", &r->write_to_png) &&
           find(library, "cairo_destroy", &r->destroy) && find(library, "cairo_surface_destroy", &r->surface_destroy) &&
           find(library, "g_object_unref", &r->object_unref);
}

int cli_png_check(cli_session *s, const char *out)
{
    renderer r;
    if (open_renderer(&r)) return CLI_DONE;
    return cli_fail_text(s,
                         "--out %s: PNG needs the library " LIBRARY " (Debian: librsvg2-2); install it, or write "
                         "%.*s.svg, which browsers and Inkscape convert",
                         out, (int)(strlen(out) - strlen(".png")), out);
}

/* ---- drawing ---- */

static int fail_file(cli_session *s, const char *file, const char *what)
{
    return cli_fail_text(s, "%s: %s", file, what);
}

/* On white, as paper is; false: not drawn, or not written. */
static bool draw(const renderer *r, void *handle, int width, int height, const char *file)
{
    const rsvg_rectangle place = {0, 0, width, height};
    void *surface = r->surface_create(CAIRO_RGB, width, height), *cairo = r->create(surface);
    r->set_source_rgb(cairo, 1, 1, 1);
    r->paint(cairo);
    bool done = r->handle_render_document(handle, cairo, &place, NULL) && r->write_to_png(surface, file) == 0;
    r->destroy(cairo);
    r->surface_destroy(surface);
    return done;
}

/* A new file beside `out`, with the rights any new file gets. */
static char *file_beside(const char *out)
{
    size_t room = strlen(out) + 8;
    char *name = malloc(room);
    if (!name) return NULL;
    snprintf(name, room, "%s.XXXXXX", out);
    int file = mkstemp(name);
    if (file < 0) {
        free(name);
        return NULL;
    }
    mode_t mask = umask(0);
    umask(mask);
    if (fchmod(file, 0666 & ~mask) != 0 || close(file) != 0) {
        remove(name);
        free(name);
        return NULL;
    }
    return name;
}

/* Under a name of its own until it is complete. */
static int draw_beside(cli_session *s, const renderer *r, void *handle, int width, int height, const char *out)
{
    struct stat about;
    if (stat(out, &about) == 0 && !S_ISREG(about.st_mode))
        return draw(r, handle, width, height, out) ? CLI_DONE : fail_file(s, out, "cannot be written");
    char *beside = file_beside(out);
    if (!beside) return fail_file(s, out, "cannot be written; is there room, and the right to write there?");
    bool done = draw(r, handle, width, height, beside) && rename(beside, out) == 0;
    if (!done) remove(beside);
    free(beside);
    return done ? CLI_DONE : fail_file(s, out, "cannot be drawn or written; is there room on the disk?");
}

int cli_png_write(cli_session *s, const char *svg, const char *out, double dpi)
{
    renderer r;
    double width = 0, height = 0, scale = dpi / CLI_SVG_DPI;
    if (!open_renderer(&r)) return cli_png_check(s, out);
    void *handle = r.handle_new_from_file(svg, NULL);
    if (!handle) return fail_file(s, out, "the picture cannot be drawn as PNG; write an .svg");
    int code = CLI_DONE;
    if (!r.handle_get_size(handle, &width, &height) || width < 1 || height < 1)
        code = fail_file(s, out, "the picture has no size; write an .svg");
    else if (width * scale > MOST_PIXELS || height * scale > MOST_PIXELS)
        code = fail_file(s, out, "the picture would be over 32767 pixels wide or high; lower --dpi or write an .svg");
    else code = draw_beside(s, &r, handle, (int)(width * scale + 0.5), (int)(height * scale + 0.5), out);
    r.object_unref(handle);
    return code;
}
