# SPDX-License-Identifier: Apache-2.0
#
# hbg_embed HEADER NAME FILE [NAME FILE ..]: writes a header with each file's text as `static const char NAME[]`, without the line
# that names its licence: what `hbg new` writes belongs to whoever asked for it.

function(hbg_embed header)
    set(text "/* SPDX-License-Identifier: Apache-2.0 */\n/* Texts of files; cmake/embed.cmake writes them. */\n")
    set(words ${ARGN})
    while(words)
        list(POP_FRONT words name file)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
        file(READ ${file} content)
        string(REGEX REPLACE "^/\\* SPDX[^\n]*\n" "" content "${content}")
        string(REPLACE "\\" "\\\\" content "${content}")
        string(REPLACE "\"" "\\\"" content "${content}")
        string(REPLACE "\n" "\\n\"\n    \"" content "${content}")
        string(APPEND text "static const char ${name}[] =\n    \"${content}\";\n")
    endwhile()
    file(CONFIGURE OUTPUT ${header} CONTENT "@text@" @ONLY)
endfunction()
