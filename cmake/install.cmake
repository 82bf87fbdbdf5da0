include(CMakePackageConfigHelpers)

install(TARGETS parallax EXPORT parallaxTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET parallax-cli)
  install(TARGETS parallax-cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(FILES ${PLX_HEADERS} ${CMAKE_CURRENT_BINARY_DIR}/include/parallax/version.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/parallax)
install(EXPORT parallaxTargets NAMESPACE parallax:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/parallax)

configure_package_config_file(cmake/parallaxConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/parallaxConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/parallax)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/parallaxConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/parallaxConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/parallaxConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/parallax)

configure_file(cmake/parallax.pc.in ${CMAKE_CURRENT_BINARY_DIR}/parallax.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/parallax.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
