/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors of a workload as .npy files: given on the command line (query=q.npy), and written (--out-npy out=o.npy).
 */
#ifndef HBG_TOOLS_TENSOR_FILE_H
#define HBG_TOOLS_TENSOR_FILE_H

#include "replace.h"
#include "setup.h"

/* "query=q.npy", with `equals` at its =: opens the file; which tensors there are is known after inputs. False: s->text. */
bool hbg__given_add(struct hbg_setup *s, const char *assignment, const char *equals);

/* Is the tensor given? shape: may be NULL, else that of the array in its file. */
bool hbg__given_find(struct hbg_setup *s, const char *name, struct hbg_shape *shape);

/* A tensor that is being declared: its file is read, if there is one. False: it does not fit, s->text. */
bool hbg__given_take(struct hbg_setup *s, const struct setup_tensor *t);

/* After inputs: every file that was given stands in its tensor, whatever the workload filled it with. False: s->text. */
bool hbg__given_load(struct hbg_setup *s);

/* The files of --out-npy. */
struct tensor_output {
    const struct setup_tensor *tensor;
    const char *path;
    struct replacement file;
};
struct tensor_outputs {
    char *list;                         /* owned: what was typed, cut into names and paths */
    struct tensor_output *output;
    size_t count;
};

/* "NAME=FILE,NAME=FILE..", after inputs; NULL is none. False: refused, text says why; *misused: in what was typed. */
bool hbg__tensor_outputs_take(struct tensor_outputs *o, struct hbg_setup *s, const char *list, bool *misused, char *text, size_t text_size);

/* Writes all of them; only when all are whole do they take their places. False: text says why. */
bool hbg__tensor_outputs_write(struct tensor_outputs *o, char *text, size_t text_size);
void hbg__tensor_outputs_release(struct tensor_outputs *o);

#endif
