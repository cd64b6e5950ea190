/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

int main(int argc, char **argv)
{
    return cli_program(argc, argv, NULL);
}
