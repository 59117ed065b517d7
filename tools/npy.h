/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of numpy: one array each.
 *
 *     "\x93NUMPY", major, minor, length of the header (2 bytes in version 1.0, 4 in 2.0; little-endian)
 *     header   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } in ASCII, blanks, a line feed
 *     data     the elements, row-major
 *
 * Nothing in a file is trusted. What cannot be taken is refused with words that go behind the file's name: "is cut: ..".
 *
 *     bool      i8 u8      i16 u16      i32 u32      i64 u64      f16      f32      f64      bf16              HBG_RECORD(n)
 *     |b1       |i1 |u1    <i2 <u2      <i4 <u4      <i8 <u8      <f2      <f4      <f8      <u2 or V2         |Vn
 *
 * numpy has no bf16: its 16 bits are written as <u2, in which numpy.uint16 sees them and (a.astype('u4') << 16).view('f4')
 * makes them f32; V2 is what extension types of that size are saved as. Structured, big-endian and Fortran-ordered arrays are refused.
 */
#ifndef HBG_TOOLS_NPY_H
#define HBG_TOOLS_NPY_H

#include <hbg/types.h>

#include <stdbool.h>
#include <stdint.h>

enum {
    NPY_HEADER_MOST = 65536,            /* a longer header belongs to a structured type */
    NPY_WRITTEN_MOST = 256              /* bytes in front of the data that are ever written */
};

/* What a header says. */
struct npy {
    char descr[24];
    char kind;                          /* of the element: one of "biufcV..", behind the byte order */
    bool big_endian;
    uint64_t item_bytes;
    struct hbg_shape shape;
    uint64_t data_at, data_bytes;       /* where in the file */
};

/* bytes: the first `size` bytes of a file of file_bytes, all of them or NPY_HEADER_MOST + 12. False: text says why. */
bool hbg__npy_parse(const unsigned char *bytes, size_t size, uint64_t file_bytes, struct npy *npy, char *text, size_t text_size);

/* whether elements of the type are stored as the header says; what a file of the type says ("<f4"), in text and returned */
bool hbg__npy_holds(const struct npy *npy, enum hbg_dtype dtype);
const char *hbg__npy_descr(enum hbg_dtype dtype, char *text, size_t text_size);

/* all in front of the data, NPY_WRITTEN_MOST bytes at most; returns how many, a multiple of 64 */
size_t hbg__npy_header(enum hbg_dtype dtype, const struct hbg_shape *shape, unsigned char *header);

/* "(3, 4)", "(3,)", "()"; text has room for 160 characters and is returned */
const char *hbg__npy_shape(const struct hbg_shape *shape, char *text);

/* An open file. */
struct npy_file {
    char *path;                         /* owned */
    int fd;
    struct npy npy;
};

/* False: text says why, with the path. The file is closed by hbg__npy_close(), which a file that was not opened does not need. */
bool hbg__npy_open(struct npy_file *file, const char *path, char *text, size_t text_size);
bool hbg__npy_load(const struct npy_file *file, void *data, char *text, size_t text_size);     /* data_bytes bytes */
void hbg__npy_close(struct npy_file *file);

#endif
