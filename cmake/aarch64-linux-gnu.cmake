# Toolchain of the preset arm64: Debian's cross compiler and arm64 libraries. Programs run under qemu-user. The environment
# variable QEMU_CPU selects the emulated CPU, such as neoverse-n1 or cortex-a72; if unset, qemu enables all features.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)  # for oneDNN in packaging/release.sh
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(PKG_CONFIG_EXECUTABLE aarch64-linux-gnu-pkg-config)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)
