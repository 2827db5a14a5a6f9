// SPDX-License-Identifier: Apache-2.0
// Owns precompiled headers of tests (npu_test_pch, npu_machine_test_pch); does nothing itself.
int main() {
  return 0;
}
