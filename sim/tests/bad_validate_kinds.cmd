# Files of two kinds have no one report: both are named.
shardsim validate platforms/measured.csv platforms/steps.csv
