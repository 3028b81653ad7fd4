# A file is printed to the byte, but only one that would load.
export SHARDSIM_DATA="$PWD/platforms"
shardsim platform platforms/tpu-v5e_4x8.xml | cmp - platforms/tpu-v5e_4x8.xml && echo same
cd "$TMPDIR" || exit 9
echo 'not a platform' >garbage.xml
: >empty.xml
shardsim platform dgx-a100:1 | sed 's/"nccl"/"zzz"/' >profile.xml
for file in /dev/null ./empty.xml garbage.xml profile.xml; do
	shardsim platform $file
	echo $?
done
