# Options that would mean nothing with the others.
export SHARDSIM_DATA="$PWD/platforms"
for options in '--plot x.svg --format html' '--plot x.svg --rows' '--plot x.svg --timing' \
	'--plot x.svg --scenario a' '--rows --format md' '--rows --baseline gather' \
	'--rows --clock model' '--rows --test sign' '--scenario a' \
	'--scenario a --format csv' '--rows --format csv --timing --family x'; do
	shardsim report none $options 2>&1 | head -n 1
done
