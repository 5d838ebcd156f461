#!/usr/bin/env bash
# Writes to target/dist/: an archive with the program, manual pages and completions; a Debian package where dpkg-deb is; the crate.
#   scripts/package.sh
# The program is linked statically: for the musl target where it is installed, else for glibc with crt-static where libc.a is.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
host=$(rustc -vV | sed -n 's/^host: //p')
machine=${host%%-*}
musl=$machine-unknown-linux-musl

# A folder of its own, so that other builds keep what they have compiled.
if rustc --print target-libdir --target "$musl" >/dev/null 2>&1 && [ -d "$(rustc --print target-libdir --target "$musl")" ]; then
    triple=$musl flags=
elif [ -e "$(cc -print-file-name=libc.a)" ]; then
    triple=$host flags="-C target-feature=+crt-static"
else
    echo "neither the target $musl nor glibc's libc.a is installed: the program will need this machine's glibc or a newer one" >&2
    triple=$host flags=
fi
RUSTFLAGS="${RUSTFLAGS:-} $flags" cargo build --profile dist --locked --target "$triple" --target-dir "$target/package-build"
program=$target/package-build/$triple/dist/lfield

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
root=$stage/usr share=$stage/usr/share
mkdir -p "$root/bin" "$share/man/man1" "$share/bash-completion/completions" "$share/zsh/vendor-completions" \
    "$share/fish/vendor_completions.d" "$share/doc/lfield" "$target/dist"
dist=$(realpath "$target/dist")
install -m 755 "$program" "$root/bin/lfield"
"$program" man | gzip -9n >"$share/man/man1/lfield.1.gz"
for command in $("$program" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]\+\) .*/\1/p' | grep -vx help); do
    "$program" man "$command" | gzip -9n >"$share/man/man1/lfield-$command.1.gz"
done
"$program" completions bash >"$share/bash-completion/completions/lfield"
"$program" completions zsh >"$share/zsh/vendor-completions/_lfield"
"$program" completions fish >"$share/fish/vendor_completions.d/lfield.fish"
install -m 644 README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$share/doc/lfield"
chmod -R u=rwX,go=rX "$stage"

# The same bytes from the same commit: dates of the commit, no owner.
date=$(git log -1 --format=%cI 2>/dev/null || date -u +%FT%TZ -r Cargo.toml)
tar --sort=name --mtime="$date" --owner=0 --group=0 --numeric-owner -C "$stage" --transform="s,^usr,lfield-$version," -cf - usr |
    gzip -9n >"$dist/lfield-$version-$machine-linux.tar.gz"

if command -v dpkg-deb >/dev/null; then
    case $machine in x86_64) architecture=amd64 ;; aarch64) architecture=arm64 ;; *) architecture=$machine ;; esac
    depends=
    if ldd "$program" 2>/dev/null | grep -q 'libc\.so'; then
        newest=$(objdump -T "$program" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -uV | tail -n 1)
        depends="Depends: libc6 (>= $newest)"$'\n'
    fi
    mkdir "$stage/DEBIAN"
    cat >"$stage/DEBIAN/control" <<CONTROL
Package: lfield
Version: $version
Architecture: $architecture
Maintainer: the lfield project
Section: graphics
Priority: optional
Installed-Size: $(du -sk "$root" | cut -f1)
${depends}Description: segments photos from a few brush strokes
 Cuts objects out of photos, gives every pixel a certified probability, and
 proves how close the answer is to the optimum of its model.
CONTROL
    SOURCE_DATE_EPOCH=$(date -d "$date" +%s) dpkg-deb --root-owner-group --build "$stage" "$dist/lfield_${version}_$architecture.deb" >/dev/null
else
    echo "dpkg-deb is not installed: no Debian package" >&2
fi

cargo package --locked --no-verify --allow-dirty --quiet --target-dir "$target"
cp "$target/package/lfield-$version.crate" "$dist"
ls -l "$dist" | awk 'NR > 1 {printf "%-40s %5.1f MB\n", $NF, $5 / 1e6}'
