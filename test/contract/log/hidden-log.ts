import { expect } from 'vitest'
import { systemClock } from '../../../src/host/clock.ts'
import { readSpan } from '../../../src/host/files/files.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { value } from '../../support/log/story.ts'
import type { ContractCheck } from './stores-under-test.ts'

const ids = systemIds(systemClock)

/** What every `LogStore` must do with the Log of a deleted Session that forks need. */
export const HIDDEN_LOG: ContractCheck = {
  title: 'a hidden Log is in no list and can be opened, until it is deleted, also after a crash',
  check: async (make) => {
    const engine = await make()
    const stores = await engine.process()
    const [session, other] = [ids.session(), ids.session()]
    for (const id of [session, other]) {
      const lease = value(await stores.leases.take(id))
      const log = await stores.logs.create(id, lease)
      expect(await log.append(Buffer.from(`${id}\n`), 0)).toBeUndefined()
      await log.close()
      await lease.release()
    }
    const lease = value(await stores.leases.take(session))
    await stores.logs.hide(session, lease)
    await stores.logs.hide(session, lease)
    await lease.release()
    await expect(stores.logs.hide(session, lease)).rejects.toThrow(session)
    const after = engine.crash === undefined ? stores : await engine.crash.afterKill().process()
    expect(await after.logs.list()).toEqual([other])
    expect(await after.logs.listHidden()).toEqual([session])
    expect([await after.logs.isHidden(session), await after.logs.isHidden(other)]).toEqual([
      true,
      false,
    ])
    const log = (await after.logs.open(session)) ?? expect.fail('it cannot be opened')
    expect((await readSpan(log, 0, 100)).toString()).toBe(`${session}\n`)
    await log.close()
    const named: string[] = []
    await after.logs.each(async (name) => void named.push(name))
    expect(named.some((name) => name.startsWith(session))).toBe(true)
    const last = value(await after.leases.take(session))
    expect(await after.logs.delete(session, last)).toBe(true)
    await last.release()
    expect(await after.logs.listHidden()).toEqual([])
    expect(await after.logs.open(session)).toBeUndefined()
  },
}
