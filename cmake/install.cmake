# `cmake --install`: program, library, headers, CMake package, pkg-config file, man page, shell completion, recipes.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS attune_program RUNTIME)
install(TARGETS attune EXPORT attune ARCHIVE)
install(DIRECTORY include/attune DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

set(ATTUNE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/attune)
install(EXPORT attune NAMESPACE attune:: FILE attune-targets.cmake DESTINATION ${ATTUNE_CMAKE_DIR})
configure_package_config_file(cmake/attune-config.cmake.in ${CMAKE_BINARY_DIR}/package/attune-config.cmake
                              INSTALL_DESTINATION ${ATTUNE_CMAKE_DIR})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/package/attune-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/package/attune-config.cmake ${CMAKE_BINARY_DIR}/package/attune-config-version.cmake
        DESTINATION ${ATTUNE_CMAKE_DIR})

# The file finds its prefix from where it lies, so that the installed tree may be moved.
file(RELATIVE_PATH ATTUNE_PC_PREFIX /x/${CMAKE_INSTALL_LIBDIR}/pkgconfig /x)
configure_file(cmake/attune.pc.in ${CMAKE_BINARY_DIR}/package/attune.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/package/attune.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# What `attune demo` trains, and the other worked examples. The demo's generator stays in the sources.
install(DIRECTORY recipes DESTINATION ${CMAKE_INSTALL_DATADIR}/attune
        PATTERN "*.cc" EXCLUDE PATTERN "*.h" EXCLUDE PATTERN "CMakeLists.txt" EXCLUDE)

# What translates the minute the program is there.
install(DIRECTORY models DESTINATION ${CMAKE_INSTALL_DATADIR}/attune)

install(FILES docs/man/attune.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES tools/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME attune)
