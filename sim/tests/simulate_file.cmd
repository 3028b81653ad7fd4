# A family and the file that `shardsim platform` makes of it give the same answer,
# but for how sure it is: a file does not say its family.
export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
shardsim platform dgx-a100:2 -o two.xml
for platform in dgx-a100:2 ./two.xml; do
	shardsim simulate --array 'u8[15040000]' --mesh x=8 --from "P('x')" \
		--to 'P(None)' --platform $platform --clock model,fluid --format json |
		sed 's/"platform": "[^"]*"//; s/"interval_s": {[^}]*}//' >$(basename $platform).json
done
cmp dgx-a100:2.json two.xml.json && echo same
shardsim platform ./two.xml | cmp - two.xml && echo same
