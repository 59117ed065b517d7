/* SPDX-License-Identifier: Apache-2.0 */
/* status.c - names, sentences and remedies of the statuses, from the list in <hbg/status.h>. */
#include <hbg/status.h>

const char *hbg_status_name(enum hbg_status status)
{
    switch ((int)status) {
#define NAME(code, name, text, remedy) case code: return "HBG_" #name;
        HBG_STATUS_MAP(NAME)
#undef NAME
    default: return "HBG_?";
    }
}

const char *hbg_status_text(enum hbg_status status)
{
    switch ((int)status) {
#define TEXT(code, name, text, remedy) case code: return text;
        HBG_STATUS_MAP(TEXT)
#undef TEXT
    default: return "an unknown status";
    }
}

const char *hbg_status_remedy(enum hbg_status status)
{
    switch ((int)status) {
#define REMEDY(code, name, text, remedy) case code: return remedy;
        HBG_STATUS_MAP(REMEDY)
#undef REMEDY
    default: return "none is known";
    }
}
