set(VCPKG_BUILD_TYPE release) # headers alone

vcpkg_from_github(
  OUT_SOURCE_PATH SOURCE_PATH
  REPO dlpackgen/dlpackgen
  REF "v${VERSION}"
  SHA512 0 # of the release's archive: vcpkg prints it
  HEAD_REF main
)

foreach(folder gen/c/dlpack gen/c/dlpackgen gen/cpp/dlpackgen)
  file(INSTALL "${SOURCE_PATH}/${folder}" DESTINATION "${CURRENT_PACKAGES_DIR}/include")
endforeach()

vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE-OUTPUT")
