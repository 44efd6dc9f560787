import { expect } from 'vitest'
import { systemClock } from '../../../src/host/clock.ts'
import { FileFailure } from '../../../src/host/files/files.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { value } from '../../support/log/story.ts'
import { HOLDER, need, type ContractCheck } from './stores-under-test.ts'

const ids = systemIds(systemClock)

/** What every `LeaseStore` must do. Each check names a promise of its comments. */
export const LEASE_STORE_CONTRACT: readonly ContractCheck[] = [
  {
    title:
      'gives the lease of a Log, which need not exist, to one holder, and names it to all others',
    check: async (make) => {
      const { process } = await make()
      const [here, there] = [(await process()).leases, (await process()).leases]
      const session = ids.session()
      const lease = value(await here.take(session))
      const busy = { error: { kind: 'session_busy', details: { holder: HOLDER } } }
      expect(await there.take(session)).toMatchObject(busy)
      expect(await here.take(session)).toMatchObject(busy)
      expect(await there.writerOf(session)).toEqual(HOLDER)
      expect(await there.beingWritten()).toEqual([session])
      expect(lease.mayHold() && (await lease.holds())).toBe(true)
      const other = value(await there.take(ids.session()))
      await other.release()
      await lease.release()
      expect(await there.writerOf(session)).toBeUndefined()
      expect(await there.beingWritten()).toEqual([])
    },
  },
  {
    title: 'of many that take it at once, exactly one gets it',
    check: async (make) => {
      const { process } = await make()
      const session = ids.session()
      const all = await Promise.all(Array.from({ length: 8 }, () => process()))
      const taken = await Promise.all(all.map(({ leases }) => leases.take(session)))
      expect(taken.filter(({ ok }) => ok).length).toBe(1)
      for (const one of taken) if (one.ok) await one.value.release()
    },
  },
  {
    title: 'no two holdings have the same epoch',
    check: async (make) => {
      const { process } = await make()
      const session = ids.session()
      const epochs = new Set<string>()
      for (let n = 0; n < 20; n++) {
        const lease = value(await (await process()).leases.take(session))
        epochs.add(lease.epoch)
        await lease.release()
      }
      expect(epochs.size).toBe(20)
    },
  },
  {
    title:
      'a released lease does not hold, and releasing it again takes nothing from the next holder',
    check: async (make) => {
      const { leases } = await (await make()).process()
      const session = ids.session()
      const first = value(await leases.take(session))
      const releasing = first.release()
      expect(first.mayHold()).toBe(false)
      await releasing
      expect([first.mayHold(), await first.holds()]).toEqual([false, false])
      const second = value(await leases.take(session))
      await first.release()
      await first.giveBack()
      expect([second.mayHold(), await second.holds()]).toEqual([true, true])
      expect(second.abandonedBy).toBeUndefined()
      await second.release()
    },
  },
  {
    title: 'a lease that was taken away does not hold, and another process gets it',
    check: async (make) => {
      const engine = await make()
      const session = ids.session()
      const first = value(await (await engine.process()).leases.take(session))
      await engine.revoke(session)
      expect([first.mayHold(), await first.holds()]).toEqual([false, false])
      const second = value(await (await engine.process()).leases.take(session))
      expect([first.mayHold(), await first.holds()]).toEqual([false, false])
      expect([second.mayHold(), await second.holds()]).toEqual([true, true])
      await second.release()
      await first.release()
    },
  },
  {
    title: 'runs one work at a time alone, beside any lease, and the next one after a failure',
    check: async (make) => {
      const { process } = await make()
      const [here, there] = [(await process()).leases, (await process()).leases]
      const lease = value(await here.take(ids.session()))
      const running: string[] = []
      const work = (name: string) => async () => {
        running.push(`${name} begins`)
        await new Promise((resolve) => void setImmediate(resolve))
        running.push(`${name} ends`)
        if (name === 'a') throw new Error('planned')
        return name
      }
      const results = await Promise.allSettled([here.alone(work('a')), there.alone(work('b'))])
      expect(results).toMatchObject([
        { status: 'rejected', reason: { message: 'planned' } },
        { status: 'fulfilled', value: 'b' },
      ])
      expect(running.map((step) => step.split(' ')[1])).toEqual([
        'begins',
        'ends',
        'begins',
        'ends',
      ])
      expect(await here.alone(work('c'))).toBe('c')
      await lease.release()
    },
  },
  {
    title: 'stops waiting for work that does not end, and reports a failure of the storage',
    check: async (make) => {
      const { process } = await make()
      const [here, there] = [(await process()).leases, (await process()).leases]
      let end = () => {}
      let begun = () => {}
      const hasBegun = new Promise<void>((resolve) => void (begun = resolve))
      const first = here.alone(() => {
        begun()
        return new Promise<void>((resolve) => void (end = resolve))
      })
      await hasBegun
      await expect(there.alone(async () => 'late')).rejects.toBeInstanceOf(FileFailure)
      end()
      await first
      expect(await there.alone(async () => 'in time')).toBe('in time')
    },
  },
  {
    title: 'after a kill, the next holder learns who abandoned it, also if one gives it back first',
    needs: ['crash'],
    check: async (make) => {
      const engine = await make()
      const session = ids.session()
      value(await (await engine.process()).leases.take(session))
      const { leases } = await need(engine.crash).afterKill().process()
      const second = value(await leases.take(session))
      expect(second.abandonedBy).toEqual(HOLDER)
      await second.giveBack()
      const third = value(await leases.take(session))
      expect(third.abandonedBy).toEqual(HOLDER)
      await third.release()
      const fourth = value(await leases.take(session))
      expect(fourth.abandonedBy).toBeUndefined()
      await fourth.release()
    },
  },
  {
    title: 'a lease ends with its process, and nothing names the process as a writer any more',
    needs: ['crash'],
    check: async (make) => {
      const engine = await make()
      const session = ids.session()
      value(await (await engine.process()).leases.take(session))
      const { leases } = await need(engine.crash).afterKill().process()
      expect(await leases.beingWritten()).toEqual([])
      await value(await leases.take(session)).release()
    },
  },
  {
    title: 'asking who writes takes nothing and changes nothing, also where there is no lease',
    check: async (make) => {
      const { process } = await make()
      const [here, there] = [(await process()).leases, (await process()).leases]
      const session = ids.session()
      expect(await there.writerOf(session)).toBeUndefined()
      expect(await there.beingWritten()).toEqual([])
      const lease = value(await here.take(session))
      expect(lease.abandonedBy).toBeUndefined()
      for (let n = 0; n < 3; n++) {
        expect(await there.writerOf(session)).toEqual(HOLDER)
        expect(await there.beingWritten()).toEqual([session])
      }
      expect(await lease.holds()).toBe(true)
      await lease.release()
    },
  },
  {
    title: 'who writes is unknown, and no error, where something else is in the place of a lease',
    needs: ['outside'],
    check: async (make) => {
      const engine = await make()
      const { leases } = await engine.process()
      const session = ids.session()
      await need(engine.outside).obstruct('lease', session)
      expect(await leases.writerOf(session)).toBeUndefined()
      expect(await leases.take(session)).toMatchObject({ error: { kind: 'not_regular_file' } })
    },
  },
  {
    title: 'a process that takes a lease while another asks which are held is not disturbed',
    check: async (make) => {
      const { process } = await make()
      const [here, there] = [(await process()).leases, (await process()).leases]
      const sessions = Array.from({ length: 4 }, () => ids.session())
      for (const session of sessions) await value(await here.take(session)).release()
      for (let round = 0; round < 5; round++) {
        const asking = Promise.all([there.beingWritten(), there.beingWritten()])
        const taken = await Promise.all(sessions.map((session) => here.take(session)))
        await asking
        for (const one of taken) await value(one).release()
      }
    },
  },
  {
    title: 'while one work runs alone, no other process runs one, until it is done or is killed',
    needs: ['program'],
    check: async (make) => {
      const engine = await make()
      const [one, two] = [need(engine.program)(), need(engine.program)()]
      const { leases } = await engine.process()
      const [session, other] = [ids.session(), ids.session()]
      let isDone = false
      const waiting = await leases.alone(async () => {
        const answer = one.ask({ act: 'alone', session }).then((done) => {
          isDone = true
          return done
        })
        // Leases do not wait for it.
        for (let n = 0; n < 5; n++) {
          expect(await two.ask({ act: 'take', session: other })).toMatchObject({ outcome: 'done' })
          await two.ask({ act: 'release', session: other })
        }
        expect(isDone).toBe(false)
        return { answer }
      })
      expect(await waiting.answer).toEqual({ outcome: 'done' })
      expect(await two.ask({ act: 'enter', session })).toEqual({ outcome: 'done' })
      await two.kill()
      expect(await leases.alone(async () => 'it runs')).toBe('it runs')
      await one.end()
    },
  },
  {
    title: 'real processes exclude each other, and the end of one releases its lease',
    needs: ['program'],
    check: async (make) => {
      const engine = await make()
      const [one, two] = [need(engine.program)(), need(engine.program)()]
      const { leases } = await engine.process()
      const [session, other] = [ids.session(), ids.session()]
      expect(await one.ask({ act: 'take', session })).toMatchObject({ outcome: 'done' })
      expect(await two.ask({ act: 'take', session })).toEqual({ outcome: 'session_busy' })
      expect(await two.ask({ act: 'take', session: other })).toMatchObject({ outcome: 'done' })
      expect([...(await leases.beingWritten())].toSorted()).toEqual([session, other].toSorted())
      const holder = { pid: one.pid, program: 'contract' }
      expect(await leases.take(session)).toMatchObject({
        error: { kind: 'session_busy', details: { holder } },
      })
      await one.kill()
      expect(await leases.beingWritten()).toEqual([other])
      const next = value(await leases.take(session))
      expect(next.abandonedBy).toMatchObject(holder)
      await next.release()
      await two.end()
    },
  },
]
