# one byte changed in the middle of a block
cp run.nocap bad.nocap && printf '\377' | dd of=bad.nocap bs=1 seek=700 conv=notrunc
nocap check bad.nocap
