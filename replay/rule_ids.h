/* The statements that the reference model can make, one id each. What they mean to a user
 * (severity, sentence, source) stands in checker/rules.def, which has a row for each. */
#ifndef NOCAP_REPLAY_RULE_IDS_H
#define NOCAP_REPLAY_RULE_IDS_H

#define NOCAP_RULE_IDS(X)                                                                          \
    X(TRC, 001)                                                                                    \
    X(TRC, 002)                                                                                    \
    X(TRC, 003) X(TRC, 004) X(TRC, 005) X(TRC, 006) X(TRC, 007) X(MAP, 001) X(MAP, 002)            \
        X(MAP, 003) X(MAP, 004) X(MAP, 005) X(MAP, 006) X(MAP, 007) X(MAP, 008) X(MAP, 009)        \
            X(MAP, 010) X(MAP, 011) X(MAP, 012) X(MAP, 013) X(MAP, 014) X(MAP, 015) X(RST, 001)    \
                X(RST, 002) X(RST, 003) X(RST, 004) X(RST, 005) X(RST, 006) X(RST, 007)            \
                    X(RST, 008) X(RST, 009) X(RST, 010) X(RST, 011) X(RST, 012) X(RST, 013)        \
                        X(RST, 014) X(RST, 015) X(RST, 016) X(RST, 017) X(SYN, 001) X(SYN, 002)    \
                            X(SYN, 003) X(SYN, 004) X(SYN, 005) X(SYN, 006) X(SYN, 007)            \
                                X(SYN, 008) X(SYN, 009) X(SYN, 010) X(SYN, 011) X(SYN, 012)        \
                                    X(SYN, 013) X(SYN, 014) X(GO, 001) X(GO, 002) X(GO, 003)       \
                                        X(GO, 004) X(GO, 005) X(GO, 006) X(GO, 007) X(GO, 008)     \
                                            X(GO, 009) X(GO, 010) X(GO, 011) X(GO, 012) X(GO, 013) \
                                                X(GO, 014) X(GO, 015) X(GO, 016) X(GO, 017)        \
                                                    X(GO, 018) X(GO, 019) X(GO, 020) X(TNX, 001)   \
                                                        X(TNX, 002) X(TNX, 003) X(TNX, 004) X(TNX, \
                                                                                              005) \
                                                            X(TNX, 006) X(TNX, 010) X(TNX, 011) X( \
                                                                TNX, 012) X(TNX, 013) X(TNX, 014)  \
                                                                X(TNX,                             \
                                                                  015) X(TNX,                      \
                                                                         016) X(TNX, 017)          \
                                                                    X(TNX,                         \
                                                                      018) X(TNX,                  \
                                                                             019) X(TNX, 020)      \
                                                                        X(TNX,                     \
                                                                          030) X(TNX,              \
                                                                                 031) X(TNX, 032)  \
                                                                            X(TNX,                 \
                                                                              033) X(TNX, 034)     \
                                                                                X(TNX,             \
                                                                                  035) X(TNX, 036) \
                                                                                    X(TNX, 040) X( \
                                                                                        TNX, 041)

#define NOCAP_RULE_IDS_CQ(X) \
    X(CQ, 001) X(CQ, 002) X(CQ, 003) X(CQ, 004) X(CQ, 005) X(CQ, 006) \
    X(CQ, 007) X(CQ, 008) X(CQ, 008a) X(CQ, 009) X(CQ, 010) X(CQ, 010a) \
    X(CQ, 011) X(CQ, 012) X(CQ, 013) X(CQ, 014) X(CQ, 015) X(CQ, 016) \
    X(CQ, 016a) X(CQ, 017) X(CQ, 018) X(CQ, 019) X(CQ, 020) X(CQ, 021) \
    X(CQ, 022) X(CQ, 023) X(CQ, 024) X(CQ, 025) X(CQ, 026) X(CQ, 027) \
    X(CQ, 028) X(CQ, 029) X(CQ, 030) X(CQ, 031) X(CQ, 032) X(CQ, 033) \
    X(CQ, 034) X(CQ, 035) X(CQ, 036) X(CQ, 037) X(CQ, 038) X(CQ, 039) \
    X(CQ, 040) X(CQ, 041) X(CQ, 042) X(CQ, 043) X(CQ, 044) X(CQ, 045) \
    X(CQ, 046) X(CQ, 047) X(CQ, 048) X(CQ, 049) X(CQ, 050) X(CQ, 051) \
    X(CQ, 052) X(CQ, 053) X(CQ, 054) X(CQ, 055) X(CQ, 056) X(CQ, 057) \
    X(CQ, 058) X(CQ, 059) X(CQ, 060) X(CQ, 061) X(CQ, 062) X(CQ, 063) \
    X(CQ, 064) X(CQ, 065) X(CQ, 066) X(CQ, 067) X(CQ, 068) X(CQ, 069) \
    X(CQ, 070)

/* clang-format off */
/* Numbers that are missing speak of what no trace shows, or are said by rules MAP. */
#define NOCAP_RULE_IDS_NOC(X) \
    X(NOC, 001) X(NOC, 002) X(NOC, 003) X(NOC, 004) X(NOC, 005) X(NOC, 006) \
    X(NOC, 007) X(NOC, 008) X(NOC, 009) X(NOC, 010) X(NOC, 011) X(NOC, 012) X(NOC, 013) \
    X(NOC, 015) X(NOC, 017) X(NOC, 018) X(NOC, 019) X(NOC, 020) X(NOC, 021) X(NOC, 022) X(NOC, 023) X(NOC, 024) \
    X(NOC, 025) X(NOC, 026) X(NOC, 027) X(NOC, 028) X(NOC, 029) X(NOC, 030) \
    X(NOC, 031) X(NOC, 032) X(NOC, 040) X(NOC, 041) X(NOC, 042) X(NOC, 043) \
    X(NOC, 044) X(NOC, 045) X(NOC, 046)
/* clang-format on */

/* clang-format off */
#define NOCAP_RULE_IDS_AIE(X) \
    X(AIE, 001) X(AIE, 002) X(AIE, 003) X(AIE, 004) X(AIE, 005) X(AIE, 006) \
    X(AIE, 007) X(AIE, 008) X(AIE, 009) X(AIE, 010) X(AIE, 011) X(AIE, 012) \
    X(AIE, 013) X(AIE, 014) X(AIE, 015) X(AIE, 016) X(AIE, 017) X(AIE, 018) \
    X(AIE, 019) X(AIE, 020) X(AIE, 021) X(AIE, 022) X(AIE, 023) X(AIE, 024) \
    X(AIE, 025) X(AIE, 026) X(AIE, 027) X(AIE, 028) X(AIE, 029) X(AIE, 030) X(AIE, 031) \
    X(AIE, 032) X(AIE, 033) X(AIE, 034) X(AIE, 035) X(AIE, 036) X(AIE, 037) \
    X(AIE, 038) X(AIE, 039) X(AIE, 040) X(AIE, 041) X(AIE, 042) X(AIE, 043) \
    X(AIE, 044) X(AIE, 045) X(AIE, 046) X(AIE, 047) X(AIE, 048) X(AIE, 049) \
    X(AIE, 050) X(AIE, 051) X(AIE, 052) X(AIE, 053) X(AIE, 054) X(AIE, 055) \
    X(AIE, 056) X(AIE, 057) X(AIE, 058) X(AIE, 059) X(AIE, 060) X(AIE, 061) \
    X(AIE, 062) X(AIE, 063) X(AIE, 064) X(AIE, 065) X(AIE, 066) X(AIE, 067) \
    X(AIE, 068) X(AIE, 069) X(AIE, 070)
/* clang-format on */

#define X(family, number) family##_##number,
enum nocap_rule {
    NOCAP_RULE_IDS(X) NOCAP_RULE_IDS_CQ(X) NOCAP_RULE_IDS_NOC(X) NOCAP_RULE_IDS_AIE(X)
    NOCAP_RULE_COUNT
};
#undef X

#endif
