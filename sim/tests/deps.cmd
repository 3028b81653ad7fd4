# What apt-get says is seen if it fails, and not otherwise. The apt-get here is ours.
mkdir "$TMPDIR/bin"
cat >"$TMPDIR/bin/apt-get" <<'END'
#!/bin/sh
echo "apt-get $*"
case "$*" in *no-such-tool*) echo "E: Unable to locate package" >&2; exit 100 ;; esac
END
printf '#!/bin/sh\nexec "$@"\n' >"$TMPDIR/bin/sudo"
chmod +x "$TMPDIR/bin/"*
deps=$PWD/.ci/deps
PATH=$TMPDIR/bin:$PATH
cd "$TMPDIR" || exit 9
"$deps" some-tool
echo "exit $?"
cat build/deps.log
"$deps" no-such-tool 2>&1
echo "exit $?"
