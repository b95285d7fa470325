# What a root shell needs so that "docker compose" works in it without Docker: tests/test_container.py says how.
set -eu
mount -t tmpfs tmpfs /mnt
mkdir /mnt/up /mnt/work /mnt/image /mnt/volumes
mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/up,workdir=/mnt/work /mnt/image
IMAGE=/mnt/image VOLUMES=/mnt/volumes
mount --rbind /dev $IMAGE/dev
mount -t proc proc $IMAGE/proc
ip link set lo up
cp /etc/hosts $PLACE/hosts
echo "127.0.0.1 database" >> $PLACE/hosts
mount --bind $PLACE/hosts /etc/hosts
cp $PLACE/hosts $IMAGE/etc/hosts
install -d -o postgres $PLACE/pg
install -o postgres -m 600 /dev/null $PLACE/word

as_postgres() { (cd / && runuser -u postgres -- "$@"); }

database() {
  test ! -e $PLACE/pg/data || return 0
  grep ^POSTGRES_PASSWORD= .env | cut -d= -f2 > $PLACE/word
  as_postgres $PG/initdb -D $PLACE/pg/data --auth=scram-sha-256 --pwfile=$PLACE/word -U crowdd --encoding=UTF8 > /dev/null
  as_postgres $PG/pg_ctl -D $PLACE/pg/data -w -l $PLACE/pg/log -o "-c unix_socket_directories=" start > /dev/null
  PGPASSWORD=$(cat $PLACE/word) $PG/createdb -h 127.0.0.1 -U crowdd crowdd
}

no_database() { test ! -e $PLACE/pg/data/postmaster.pid || as_postgres $PG/pg_ctl -D $PLACE/pg/data -m fast stop > /dev/null; }

build() {
  stop_server # in Docker it would go on with the old image
  for mounted in data backups run/secrets/backup_passphrase tmp; do umount $IMAGE/$mounted 2> /dev/null || true; done
  mount -o remount,rw $IMAGE
  rm -rf $IMAGE/crowdd $IMAGE/source $IMAGE/data $IMAGE/backups
  mkdir -p $IMAGE/source $IMAGE/needed $IMAGE/from $IMAGE/run/secrets
  cp -a $PLACE/context/. $IMAGE/source
  ln -sf $PYTHON $IMAGE/usr/local/bin/python
  mountpoint -q $IMAGE/needed || { mount --bind $SITE $IMAGE/needed; mount -o remount,bind,ro $IMAGE/needed; }
  ! grep -q ^crowdd: $IMAGE/etc/passwd || chroot $IMAGE userdel crowdd
  chroot $IMAGE env PATH=$PATH sh -euc "$BUILD" > $PLACE/build.log 2>&1 || { cat $PLACE/build.log; return 1; }
  touch $IMAGE/run/secrets/backup_passphrase
  for volume in data backups; do
    test -d $VOLUMES/$volume || cp -a $IMAGE/$volume $VOLUMES/$volume # a new volume has what the image has there
    mount --bind $VOLUMES/$volume $IMAGE/$volume
  done
  mount -t tmpfs -o mode=1777 tmpfs $IMAGE/tmp
  mount --bind backup_passphrase $IMAGE/run/secrets/backup_passphrase
  mount -o remount,ro $IMAGE
}

container() {
  POSTGRES_PASSWORD=$(grep ^POSTGRES_PASSWORD= .env | cut -d= -f2)
  eval "set -- $ENVIRONMENT $(grep '^[A-Z].*=' .env | xargs) $OWN sh -c 'cd /data; exec \"\$@\"' - $(printf '%q ' "$@")"
  ${BECOME:-} chroot --userspec=900:900 $IMAGE env -i "$@"
}

stop_server() {
  test -z "${SERVER:-}" || { kill $SERVER; wait $SERVER || true; }
  SERVER=
}

trap 'stop_server; no_database' EXIT

docker() {
  shift
  verb=$1
  shift
  case "$verb $*" in
    build*) build ;;
    "up -d --wait database") database ;;
    "up -d")
      database
      stop_server
      container crowdctl db upgrade
      BECOME=exec container $CMD >> $PLACE/log 2>&1 &
      SERVER=$!
      for _ in $(seq 600); do
        ! eval "container $CHECK" > /dev/null 2>&1 || break
        sleep 0.1
      done ;;
    exec*)
      shift
      container "$@" ;;
    cp*) cp -a $VOLUMES/backups $3 ;;
    run*)
      while test "$1" != server; do
        test "$1" != -v || mount --bind "${2%%:*}" $IMAGE/from
        shift
      done
      shift
      container "$@" ;;
  esac
}

mkdir $PLACE/clone
cp -a $PLACE/context/. $PLACE/clone
cp $CHECKOUT/.env.example $PLACE/clone
cd $PLACE/clone
