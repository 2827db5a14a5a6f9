// SPDX-License-Identifier: Apache-2.0
// Citations of documents, and the names that READMEs give: each must resolve in this tree.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/architecture/rules.hpp"

namespace npu::architecture {

// Documents by path, each with its headings, and pages of docs/sources with their anchors besides:
// a capital and a number that begin a heading or a table's row.
using Documents = std::map<std::string, std::set<std::string>, std::less<>>;

Documents read_documents(const std::vector<SourceFile>& files);

// Anchors that a page of docs/sources has twice; each names one thing.
Violations check_anchors(const SourceFile& page);

// Pages of docs/sources whose names other documents have, too: a name alone must say which.
Violations check_page_names(const Tree& tree);

// A document that a text names is in the tree (beside the file, at the root or in docs), and so is
// the heading cited with it: FILE, "HEADING". The name of a page of docs/sources is enough for it,
// and an anchor follows. Such a page itself may name documents elsewhere: its origins.
Violations check_citations(const SourceFile& file, const Documents& documents, const Tree& tree);

// Whether a README names every file (by its stem) and every folder beside it; that of the root
// every folder with a README. `tests_*` stands for all that it matches.
Violations check_named(const SourceFile& readme, const Tree& tree);

// Whether there is every file and folder that a README names: words with a known ending, paths from
// the root, and the first cells of tables of files.
Violations check_names(const SourceFile& readme, const Tree& tree);

}  // namespace npu::architecture
