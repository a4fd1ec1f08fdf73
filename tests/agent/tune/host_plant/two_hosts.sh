#!/bin/sh
# rocetune tune on two hosts that fake_rocetune.py plays in h1 and h2 of the folder it is called in; a shell stands for
# ssh. Their workload is fast while h1's PFC is not as it was found. Arguments: more for tune.
here=$(dirname "$0")
for host in h1 h2; do
  [ -d $host ] && continue
  mkdir $host
  rocetune inspect --root "$SOURCE/tests/fixtures/hosts/mlx5" --json | sed "s/node17/$host/" > $host/host.json
done
cat > ssh <<'END'
#!/bin/sh
cd "$1" && shift && exec /bin/sh -c "$*"
END
chmod +x ssh
load='grep -qsx "ens1f0np0 pfc" h1/in_force && echo busbw 90 || echo busbw 60'
exec rocetune tune --host h1 --host h2 --ssh ./ssh --remote-rocetune "$here/fake_rocetune.py" --root . --state-dir . \
  --metric 'busbw=re:Gb/s:busbw ([0-9]+)' --workload "$load" --budget 18 --interval 100ms --yes "$@"
