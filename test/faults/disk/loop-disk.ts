import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, rm, rmdir, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { APART_NEEDS, run, whyNotAsRoot } from '../support/own-mounts.ts'

const IMAGE_BYTES = 256 * 1024 * 1024

/** FS_IOC_SHUTDOWN with NOLOGFLUSH: from here on, the file system writes nothing, not even its journal. */
const SHUTDOWN = `
  open(my $disk, '<', $ARGV[0]) or die "open: $!";
  my $how = pack('L', 2);
  $| = 1;
  print "ready\\n";
  <STDIN>;
  defined(ioctl($disk, 0x8004587d, $how)) or die "ioctl: $!";
  print "off\\n";
`

/**
 * An ext4 file system in an image whose power can be cut. The image is an unlinked file: it disappears with this process, and the
 * mount is in a process with its own mount namespace.
 */
export class LoopDisk {
  readonly path: string
  readonly #image: FileHandle

  static async make(below: string): Promise<LoopDisk> {
    const folder = await mkdtemp(join(below, 'disk-'))
    const name = join(folder, 'image')
    const image = await open(name, 'w+')
    await image.truncate(IMAGE_BYTES)
    await run('mkfs.ext4', ['-q', '-F', name])
    await rm(name)
    const disk = new LoopDisk(folder, image)
    await disk.mount()
    return disk
  }

  constructor(path: string, image: FileHandle) {
    this.path = path
    this.#image = image
  }

  async mount(): Promise<void> {
    const image = `/proc/${process.pid}/fd/${this.#image.fd}`
    await run('mount', ['-t', 'ext4', '-o', 'loop', image, this.path])
  }

  async unmount(): Promise<void> {
    // A process that was just killed may not have exited yet.
    for (let tries = 50; tries > 0; tries--) {
      const gone = await run('umount', [this.path]).catch(() => undefined)
      if (gone !== undefined) return
      await sleep(20)
    }
    throw new Error(`${this.path} cannot be unmounted`)
  }

  /** Prepares the cut; the returned function cuts at once. */
  async switch(): Promise<{ cut(): Promise<void> }> {
    const perl = spawn('perl', ['-e', SHUTDOWN, this.path], { stdio: ['pipe', 'pipe', 'inherit'] })
    const closed = once(perl, 'close')
    await once(perl.stdout, 'data')
    return {
      cut: async () => {
        perl.stdin.end('\n')
        const [code] = await closed
        if (code !== 0) throw new Error('the power could not be cut')
      },
    }
  }

  async remove(): Promise<void> {
    await this.unmount()
    await this.#image.close()
    await rmdir(this.path)
  }
}

export async function whyNoLoopDisk(): Promise<string | undefined> {
  const reason = await whyNotAsRoot([...APART_NEEDS, 'mkfs.ext4', 'losetup', 'perl'])
  if (reason !== undefined) return reason
  const free = await run('losetup', ['-f']).catch(() => undefined)
  return free === undefined ? 'there is no loop device' : undefined
}
