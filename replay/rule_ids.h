/* The statements that the reference model can make, one id each. What they mean to a user
 * (severity, sentence, source) stands in checker/rules.def, which has a row for each. */
#ifndef NOCAP_REPLAY_RULE_IDS_H
#define NOCAP_REPLAY_RULE_IDS_H

#define NOCAP_RULE_IDS(X)                                                                          \
    X(TRC, 001)                                                                                    \
    X(TRC, 002) X(TRC, 003) X(TRC, 004) X(TRC, 005) X(TRC, 006) X(TRC, 007) X(MAP, 001)            \
        X(MAP, 002) X(MAP, 003) X(MAP, 004) X(MAP, 005) X(MAP, 006) X(MAP, 007) X(MAP, 008)        \
            X(MAP, 009) X(MAP, 010) X(MAP, 011) X(MAP, 012) X(MAP, 013) X(MAP, 014) X(MAP, 015)    \
                X(RST, 001) X(RST, 002) X(RST, 003) X(RST, 004) X(RST, 005) X(RST, 006)            \
                    X(RST, 007) X(RST, 008) X(RST, 009) X(RST, 010) X(RST, 011) X(RST, 012)        \
                        X(RST, 013) X(RST, 014) X(RST, 015) X(RST, 016) X(RST, 017) X(SYN, 001)    \
                            X(SYN, 002) X(SYN, 003) X(SYN, 004) X(SYN, 005) X(SYN, 006)            \
                                X(SYN, 007) X(SYN, 008) X(SYN, 009) X(SYN, 010) X(SYN, 011)        \
                                    X(SYN, 012) X(SYN, 013) X(SYN, 014) X(GO, 001) X(GO, 002)      \
                                        X(GO, 003) X(GO, 004) X(GO, 005) X(GO, 006) X(GO, 007)     \
                                            X(GO, 008) X(GO, 009) X(GO, 010) X(GO, 011) X(GO, 012) \
                                                X(GO, 013) X(GO, 014) X(GO, 015) X(GO, 016)        \
                                                    X(GO, 017) X(GO, 018) X(GO, 019) X(GO, 020)    \
                                                        X(TNX, 040)

#define X(family, number) family##_##number,
enum nocap_rule { NOCAP_RULE_IDS(X) NOCAP_RULE_COUNT };
#undef X

#endif
