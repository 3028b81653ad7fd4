shardsim platform tpu-v5e:4x8 | head -n 14
shardsim platform tpu-v4:4x4x4
# The files in platforms/ are the program's own output.
for file in platforms/*.xml; do
	name=$(basename $file .xml)
	shardsim platform ${name%_*}:${name##*_} | cmp - $file || echo "$file differs"
done
