# What a root shell needs so that "docker compose" works in it without Docker: tests/test_container.py says how.
set -eu
mount -t tmpfs tmpfs /mnt
VOLUMES=/mnt/volumes
mkdir $VOLUMES
ip link set lo up
cp /etc/hosts $PLACE/hosts
echo "127.0.0.1 database" >> $PLACE/hosts
mount --bind $PLACE/hosts /etc/hosts
install -d -o postgres $PLACE/pg
install -o postgres -m 600 /dev/null $PLACE/word

as_postgres() { (cd / && runuser -u postgres -- "$@"); }

of_env() { grep "^$1=" .env | cut -d= -f2-; }

# The folder of the image that the tag in .env names.
image() { echo /mnt/image-$(of_env IMAGE_TAG); }

database() {
  test ! -e $PLACE/pg/data || return 0
  of_env POSTGRES_PASSWORD > $PLACE/word
  as_postgres $PG/initdb -D $PLACE/pg/data --auth=scram-sha-256 --pwfile=$PLACE/word -U crowdd --encoding=UTF8 > /dev/null
  as_postgres $PG/pg_ctl -D $PLACE/pg/data -w -l $PLACE/pg/log -o "-c unix_socket_directories=" start > /dev/null
  PGPASSWORD=$(cat $PLACE/word) $PG/createdb -h 127.0.0.1 -U crowdd crowdd
}

no_database() { test ! -e $PLACE/pg/data/postmaster.pid || as_postgres $PG/pg_ctl -D $PLACE/pg/data -m fast stop > /dev/null; }

# An overlay over $BASE, in which the lines of the Dockerfile are run. The server that runs goes on with its own image.
build() {
  new=$(image)
  ! mountpoint -q $new || umount -R -l $new
  rm -rf $new $new.up $new.work
  mkdir -p $new $new.up $new.work
  mount -t overlay overlay -o lowerdir=$BASE,upperdir=$new.up,workdir=$new.work $new
  mount --rbind /dev $new/dev
  mount -t proc proc $new/proc
  cp $PLACE/hosts $new/etc/hosts
  mkdir -p $new/source $new/needed $new/from $new/run/secrets
  cp -a $PLACE/context/. $new/source
  ln -sf $PYTHON $new/usr/local/bin/python
  mount --bind $SITE $new/needed
  mount -o remount,bind,ro $new/needed
  chroot $new env PATH=$PATH sh -euc "$BUILD" > $PLACE/build.log 2>&1 || { cat $PLACE/build.log; return 1; }
  touch $new/run/secrets/backup_passphrase
  for volume in data backups; do
    test -d $VOLUMES/$volume || cp -a $new/$volume $VOLUMES/$volume # a new volume has what the image has there
    mount --bind $VOLUMES/$volume $new/$volume
  done
  mount -t tmpfs -o mode=1777 tmpfs $new/tmp
  mount --bind backup_passphrase $new/run/secrets/backup_passphrase
  mount -o remount,ro $new
}

container() {
  POSTGRES_PASSWORD=$(of_env POSTGRES_PASSWORD)
  eval "set -- $ENVIRONMENT $(grep '^[A-Z].*=' .env | xargs) $OWN sh -c 'cd /data; exec \"\$@\"' - $(printf '%q ' "$@")"
  ${BECOME:-} chroot --userspec=900:900 $(image) env -i "$@"
}

stop_server() {
  test -z "${SERVER:-}" || { kill $SERVER; wait $SERVER || true; }
  SERVER=
}

trap 'stop_server; no_database' EXIT

# What docker compose up does: the database, the upgrade, the server of the present image, until it is healthy.
up() {
  database
  stop_server
  container crowdctl db upgrade
  BECOME=exec container $CMD >> $PLACE/log 2>&1 &
  SERVER=$!
  for _ in $(seq 600); do
    ! eval "container $CHECK" > /dev/null 2>&1 || return 0
    sleep 0.1
  done
  echo "The server is not healthy."
  return 1
}

docker() {
  shift
  verb=$1
  shift
  case "$verb $*" in
    build*) build ;;
    "up -d --wait database") database ;;
    "up -d") up ;;
    exec*)
      shift
      container "$@" ;;
    cp*) cp -a $VOLUMES/backups $3 ;;
    run*)
      while test "$1" != server; do
        test "$1" != -v || mount --bind "${2%%:*}" $(image)/from
        shift
      done
      shift
      container "$@" ;;
    *)
      echo "docker compose $verb $*: the stand-in does not know it."
      return 1 ;;
  esac
}

# Another machine: no database, no volumes, and nothing that was built.
new_machine() {
  stop_server
  no_database
  umount -R -l $(image)
  rm -rf $PLACE/pg/data $VOLUMES/*
}

mkdir $PLACE/clone
cp -a $PLACE/context/. $PLACE/clone
cp $CHECKOUT/.env.example $PLACE/clone
cd $PLACE/clone
