# A plot has the format of its file's name, not that of a table.
shardsim validate platforms/measured.csv --plot x.svg --format csv 2>&1 | head -n 1
shardsim validate platforms/measured.csv --format md --plot x.svg 2>&1 | head -n 1
