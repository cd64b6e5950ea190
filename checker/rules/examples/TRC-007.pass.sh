# the trace as the capture closed it
nocap check run.nocap
