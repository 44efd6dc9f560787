import { ifPossible, ifThere, type Folder } from '../../host/files/files.ts'
import { inOrder } from '../../host/in-order.ts'
import type { InstanceId } from '../../model/ids.ts'

/**
 * The entry in `instances/unended` of an Instance whose messages have not all ended, so that a server that starts knows whom to
 * start. It is durable before a message is accepted. One that is left behind costs the next server one look.
 */
export class UnendedMark {
  readonly #folder: Folder
  readonly #id: InstanceId
  readonly #inOrder = inOrder()
  #isSet: boolean
  /** Messages that are being accepted. */
  #arriving = 0

  constructor(folder: Folder, id: InstanceId, isSet: boolean) {
    this.#folder = folder
    this.#id = id
    this.#isSet = isSet
  }

  get isSet(): boolean {
    return this.#isSet
  }

  /** Runs `accept` while the entry is durable. Throws a `FileFailure` if it cannot be made durable. */
  async during<T>(accept: () => Promise<T>): Promise<T> {
    this.#arriving += 1
    try {
      if (!this.#isSet) await this.#inOrder(() => this.#set())
      return await accept()
    } finally {
      this.#arriving -= 1
    }
  }

  /** Removes the entry, unless `isNeeded`. */
  async clear(isNeeded: () => boolean): Promise<void> {
    await this.#inOrder(async () => {
      if (!this.#isSet || this.#arriving > 0 || isNeeded()) return
      // First: a message that arrives from here on sets it again, after this removal.
      this.#isSet = false
      await ifPossible(ifThere(this.#folder.remove(this.#id)))
    })
  }

  async #set(): Promise<void> {
    if (this.#isSet) return
    const file = await this.#folder.open(this.#id, 'lease')
    await file.close()
    await this.#folder.sync()
    this.#isSet = true
  }
}
