# SPDX-License-Identifier: Apache-2.0
#
# `cmake --install`: headers, both libraries, hbg.pc, hbgConfig.cmake (targets hbg::shared and hbg::static), documents, examples, and the command
# with its manual page and the data of `hbg run gp`.
# The command is a component of its own: `cmake --install build --component library` leaves it out.

include(CMakePackageConfigHelpers)

set(HBG_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/hbg)
# hbg.pc finds its prefix from where it lies, so `cmake --install --prefix` and a moved tree are right as well; with an absolute
# library folder there is no way from one to the other.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    set(HBG_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
    set(HBG_PC_LIBDIR "${CMAKE_INSTALL_LIBDIR}")
else()
    file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
    string(REGEX REPLACE "/$" "" up "${up}")
    set(HBG_PC_PREFIX "\${pcfiledir}/${up}")
    set(HBG_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(HBG_PC_INCLUDEDIR "${CMAKE_INSTALL_INCLUDEDIR}")
else()
    set(HBG_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file(cmake/hbg.pc.in hbg.pc @ONLY)
configure_package_config_file(cmake/hbgConfig.cmake.in hbgConfig.cmake INSTALL_DESTINATION ${HBG_CMAKE_DIR})
write_basic_package_version_file(hbgConfigVersion.cmake COMPATIBILITY SameMinorVersion)

export(TARGETS hbg_shared hbg_static hbg_flags NAMESPACE hbg:: FILE hbgTargets.cmake)      # the build tree is found as well: CMAKE_PREFIX_PATH=build

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME library)
install(DIRECTORY include/hbg DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS hbg_shared hbg_static EXPORT hbgTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT hbgTargets NAMESPACE hbg:: DESTINATION ${HBG_CMAKE_DIR})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/hbg.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/hbgConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/hbgConfigVersion.cmake
    DESTINATION ${HBG_CMAKE_DIR})
install(FILES README.md ARCHITECTURE.md CAVEATS.md CHANGELOG.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN "*.in" EXCLUDE)
install(FILES workloads/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/workloads)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
if(TARGET hbg_command)
    set_target_properties(hbg_command PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
    install(TARGETS hbg_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
    install(FILES workloads/gp/mauna_loa_co2.csv DESTINATION ${CMAKE_INSTALL_DATADIR}/hbg COMPONENT command)   # `hbg run gp`
    configure_file(docs/hbg.1.in hbg.1 @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/hbg.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
endif()
