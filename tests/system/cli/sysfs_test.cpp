// SPDX-License-Identifier: Apache-2.0
// Unmodified pciutils on the machine's functions, as files and as a file system.
#include <fcntl.h>
#include <sys/mount.h>

#include "tests/support/folders.hpp"
#include "tests/system/cli/program.hpp"

namespace npu::cli {
namespace {

// Whether this system lets us mount a FUSE file system, without npusim having a part in it.
bool fuse_is_ours(const std::string& folder) {
  const int device = ::open("/dev/fuse", O_RDWR | O_CLOEXEC);
  if (device < 0) return false;
  const std::string options =
      "fd=" + std::to_string(device) + ",rootmode=40000,user_id=0,group_id=0";
  const bool mounted =
      ::mount("npusim-test", folder.c_str(), "fuse", MS_NOSUID | MS_NODEV, options.c_str()) == 0;
  if (mounted) ::umount2(folder.c_str(), MNT_DETACH);
  ::close(device);
  return mounted;
}

class SysfsTree : public Program {
 protected:
  void expect_fuse() {
    std::filesystem::create_directories(path("tree"));
    if (!fuse_is_ours(path("tree"))) GTEST_SKIP() << "no FUSE for us on this system";
  }
  static std::string with(const std::string& tool, const std::string& rest) {
    return tool + " -A linux-sysfs -O sysfs.path=tree " + rest;
  }
  // Runs `commands` while the tree is mounted; nothing if it never was.
  std::string mounted(const std::string& commands) {
    const auto result =
        shell("{ " + binary_dir() +
              "/bin/npusim --config 910b sysfs tree --live & server=$!;"
              "for i in $(seq 100); do [ -d tree/devices ] && break; sleep 0.1; done;"
              "[ -d tree/devices ] || { kill $server; exit 77; };" +
              commands + "; kill $server; wait $server; }");
    return result.exit_code == 77 ? "" : result.out + result.err;
  }
};

TEST_F(SysfsTree, ATreeOfFilesIsWhatLspciWants) {
  good(npusim({"--config", "910b", "sysfs", path("tree")}));
  const auto listed = shell(with("lspci", "-vv -s 01:00.0")).out;
  EXPECT_NE(listed.find("[size=64G]"), std::string::npos) << listed;
}

TEST_F(SysfsTree, AMountedTreeAnswersFromTheModels) {
  expect_fuse();
  if (IsSkipped()) return;
  const auto seen = mounted(with("setpci", "-s 01:00.0 COMMAND=ffff") + ";" +
                            with("setpci", "-s 01:00.0 COMMAND VENDOR_ID"));
  // Bits 0, 1, 2, 6, 8 and 10 may be written (model/pcie/capabilities.cpp), no others.
  EXPECT_NE(seen.find("0547\n19e5\n"), std::string::npos) << seen;
}

TEST_F(SysfsTree, VirtualFunctionsAppearInAMountedTreeWhenTheyAreEnabled) {
  expect_fuse();
  if (IsSkipped()) return;
  const auto seen =
      mounted("ls tree/devices;" + with("setpci", "-s 01:00.0 ECAP_SRIOV+10.w=2") + ";" +
              with("setpci", "-s 01:00.0 ECAP_SRIOV+8.w=9") + "; ls tree/devices");
  EXPECT_NE(seen.find("0000:01:00.0\n0000:00:00.0\n0000:01:00.0\n0000:01:02.0\n0000:01:02.1\n"),
            std::string::npos)
      << seen;
}

TEST_F(SysfsTree, AMountPointThatDoesNotExistIsRefused) {
  expect_refused({"--config", "910b", "sysfs", path("none"), "--live"},
                 "sysfs " + path("none") + ": no such folder");
}

TEST_F(SysfsTree, AFolderThatCannotBeWrittenIsRefused) {
  expect_refused({"--config", "910b", "sysfs", "/proc/nothing"},
                 "sysfs /proc/nothing: cannot write "
                 "/proc/nothing/devices/0000:00:00.0: No such file or directory");
  EXPECT_EQ(shell("mkdir -p tree/devices/0000:00:00.0;"
                  "ln -s /dev/full tree/devices/0000:00:00.0/config")
                .exit_code,
            0);
  const auto full = npusim({"--config", "910b", "sysfs", "tree"});
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_EQ(full.err,
            "npusim: sysfs tree: cannot write tree/devices/0000:00:00.0/config: No space left on "
            "device\n");
}

}  // namespace
}  // namespace npu::cli
