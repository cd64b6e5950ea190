# a trace whose last bytes are missing
head -c -40 run.nocap > cut.nocap && nocap check cut.nocap
