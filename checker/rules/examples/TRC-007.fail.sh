# blocks were taken out by a tool that left the old footer in place
nocap check edited.nocap
