/** What a guest does to reach records that are not its own. `$P` is a Log of the person, `$O` one of another Instance. */
export interface RecordAttack {
  readonly name: string
  /** A bash script, in the workspace `$W`. */
  readonly script: string
  /** Whether it succeeds if a guest sees the `.hawser` of the person, as the planted control does. */
  readonly works: boolean
}

const logs = (root: string) =>
  `cat ${root}/.hawser/sessions/$P ${root}/.hawser/instances/inst_2/sessions/$O ${root}/.hawser/config.json`

export const RECORD_ATTACKS: readonly RecordAttack[] = [
  { name: 'read by the absolute path', script: logs('$W'), works: true },
  { name: 'read by a relative path', script: logs('.'), works: true },
  { name: 'read through ..', script: `${logs('.hawser/..')}; ${logs('$W/x/..')}`, works: true },
  {
    name: 'read through /proc',
    script: [
      '/proc/self/root$W',
      '/proc/self/cwd',
      '/proc/1/root$W',
      '/proc/1/cwd',
      '/proc/self/task/$$/root$W',
    ]
      .map(logs)
      .join('; '),
    works: true,
  },
  {
    name: 'search everything that it sees',
    script: 'grep -rsh "[c]anary-of" / --include="*.ndjson" --include=config.json',
    works: true,
  },
  {
    name: 'append a line that widens the mode',
    script: `for f in $W/.hawser/sessions/$P .hawser/instances/inst_2/sessions/$O; do echo '{"permission_mode":"auto"}' >>$f; done`,
    works: true,
  },
  {
    name: 'plant a Log and settings',
    script: 'echo x >.hawser/sessions/ses_planted.ndjson; echo "{}" >.hawser/config.json',
    works: true,
  },
  {
    name: 'delete everything in .hawser',
    script: 'rm -rf .hawser/* .hawser/.[a-z]*; find .hawser -delete',
    works: true,
  },
  {
    name: 'move .hawser away, or exchange it with another folder',
    script: `mkdir other; mv .hawser away; mv -T other .hawser; rmdir .hawser; mkdir -p new/sessions
      perl -e 'syscall(316, -100, "new", -100, ".hawser", 2)'; mv --exchange new .hawser; ${logs('away')}; ${logs('new')}; ls -d away new/instances && echo MOVED`,
    works: false,
  },
  {
    name: 'move the workspace or a folder on the way',
    script: 'mv "$W" "$W.old"; mv "$W/.." /tmp/up; ls -d "$W.old" && echo MOVED',
    works: false,
  },
  {
    name: 'unmount what covers .hawser, or see the folder without it',
    script: `unshare -Urm sh -c '
      umount -l .hawser; umount .hawser; mkdir b r m o u w
      mount --bind . b; mount --rbind . r; umount -l r/.hawser; mount --make-rprivate /; mount --move .hawser m
      mount -t overlay -o lowerdir=$W,upperdir=$W/u,workdir=$W/w none o; mount -t overlay -o lowerdir=$W:/tmp none o
      ${['.', 'b', 'r', 'o'].map(logs).join('; ')}'`,
    works: true,
  },
  {
    name: 'link to records outside',
    script: `ln $W/.hawser/sessions/$P stolen; ln -s $W/.hawser/sessions/$P .hawser/soft; cat stolen .hawser/soft
      ln -s ../../sessions .hawser/up; cat .hawser/up/$P; ln -s /proc/self/root$W/.hawser .hawser/root; cat .hawser/root/sessions/$P`,
    works: true,
  },
  {
    name: 'climb out of its records',
    script:
      'cd -P .hawser && cat ../../sessions/$P ../inst_2/sessions/$O ../../config.json ../sessions/$P',
    works: false,
  },
]

/** How the host could be led outside by what a guest leaves in its own records. */
export const RECORD_LINKS: readonly { readonly name: string; readonly script: string }[] = [
  {
    name: 'sessions that is a link',
    script: 'rm -rf .hawser/sessions; ln -s "$W/fake" .hawser/sessions',
  },
  {
    name: 'sessions that leads up',
    script: 'rm -rf .hawser/sessions; ln -s ../../sessions .hawser/sessions',
  },
  { name: 'blobs that is a link', script: 'rm -rf .hawser/blobs; ln -s "$W/fake" .hawser/blobs' },
  {
    name: 'a Log that is a link to the Log of the person',
    script: 'mkdir -p .hawser/sessions; ln -s ../../../sessions/$P .hawser/sessions/$P',
  },
  {
    name: 'a Log that is a hard link to a file of the workspace',
    script: 'mkdir -p .hawser/sessions; ln fake/$P .hawser/sessions/$P',
  },
  {
    name: 'a blob that is a link',
    script: 'mkdir -p .hawser/blobs; ln -s "$W/fake/secret" .hawser/blobs/$B',
  },
  {
    name: 'a blob that is a hard link to a file of the workspace',
    script: 'mkdir -p .hawser/blobs; ln "$W/fake/secret" .hawser/blobs/$B',
  },
]
