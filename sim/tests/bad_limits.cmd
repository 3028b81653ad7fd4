# Short files that would take long, and files without an end, are refused at once.
export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
xml() {
	echo '<?xml version="1.0"?><!-- > [ -->'
	echo "$1"
	echo '<platform version="4.1"><zone id="&big;"/></platform>'
}
many() { head -c "$1" /dev/zero | sed "s/\x0/$2/g"; }
refused() {
	timeout 10 shardsim "$@" 2>said
	echo "exit $?"
	cut -c 1-130 said
}
big="<!ENTITY big '$(many 20000 x)'>"
xml "<!DOCTYPE platform SYSTEM \"a[b>\" [$big]>" >entity.xml
refused platform ./entity.xml
xml '<!DOCTYPE platform
 [<!ENTITY % a "b"> %a;]>' >parameter.xml
refused platform ./parameter.xml
xml '<!DOCTYPE platform>' | iconv -t UTF-16LE >utf16.xml
refused platform ./utf16.xml
{ printf 'scenarios: '; many 40000 '['; } >flow.yaml
refused sweep flow.yaml
many 40000 '- ' >block.yaml
refused sweep block.yaml
{ printf 'scenarios: ['; many 30000 '\&a {}, '; printf ']'; } >anchors.yaml
refused sweep anchors.yaml
mkdir data
cp flow.yaml data/families.yaml
SHARDSIM_DATA=data refused platform tpu-v5e:4x4
refused sweep /dev/zero
refused sweep plan /dev/zero
refused sweep run /dev/zero
refused platform /dev/zero
refused validate /dev/zero
refused plan --array 'f32[8]' --mesh x=4 --from "P('x')" --to 'P()' --devices @/dev/zero
refused plan --mesh x=4 --xla-warning @/dev/zero
refused automap /dev/zero --mesh x=4 --search none
