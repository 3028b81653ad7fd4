# Of several tables each goes by the mapping beside it: dgx2-16n is in the second one's alone.
shardsim validate platforms/measured.csv platforms/held-out.csv | grep -m 1 'DGX-2, 16 nodes'
shardsim validate platforms/held-out.csv | grep -m 1 'DGX-2, 16 nodes'
