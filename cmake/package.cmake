# SPDX-License-Identifier: Apache-2.0
#
# `cpack -G DEB` in a build, and `make deb`: one Debian package with library, headers and command, below /usr. What it depends on is
# read from its binaries by dpkg-shlibdeps. `make deb` has a build tree of its own, which is configured for /usr: there the library
# goes to the folder of the machine's architecture, as Debian has it (lib/x86_64-linux-gnu), and carries no search path.

set(CPACK_PACKAGE_NAME hbg)
set(CPACK_PACKAGE_CONTACT "hbg maintainers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
include(CPack)
