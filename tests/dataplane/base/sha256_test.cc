#include "dataplane/base/sha256.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace rocetune {
namespace {

// NIST, "Example values for SHA-256" and CAVP SHA256ShortMsg.
TEST(Sha256, MatchesThePublishedVectors) {
  EXPECT_EQ(sha256_text(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_text("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_text("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_text(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesDoNotMatter) {
  const std::string text(300, 'x');
  for (std::size_t length = 0; length <= 130; ++length) {
    const std::string_view message = std::string_view(text).substr(0, length);
    for (const std::size_t piece : {1, 7, 63, 64, 65}) {
      Sha256 hash;
      for (std::size_t at = 0; at < length; at += piece) hash.add(message.substr(at, piece));
      ASSERT_EQ(to_text(hash.finish()), sha256_text(message)) << length << " in " << piece;
    }
  }
}

TEST(Sha256, NumbersAreEightBytesMostSignificantFirst) {
  EXPECT_EQ(to_text(Sha256().add(std::uint64_t{0x6162636465666768}).finish()), sha256_text("abcdefgh"));
}

TEST(Sha256DeathTest, NothingFollowsTheEnd) {
  Sha256 hash;
  (void)hash.finish();
  EXPECT_DEATH(hash.add("x"), "assertion");
}

}  // namespace
}  // namespace rocetune
