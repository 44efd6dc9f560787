import { expect, test } from 'vitest'
import { SessionId } from '../../../model/ids.ts'
import type { ListedSession } from '../../../session/queries/list.ts'
import { sessionFold } from '../../../session/live/state.ts'
import { sessionTree } from './session-tree.ts'

const idOf = (letter: string) => SessionId.parse(`ses_${'0'.repeat(25)}${letter}`)

/** `b<a` means that b was forked from a. */
function listed(text: string): ListedSession {
  const [own = '', parent] = text.split('<')
  const parent_session_id = parent === undefined ? '' : idOf(parent)
  const state = { ...sessionFold.initial, parent_session_id }
  return { id: idOf(own), state, foreign: false, busy: false }
}

function tree(...sessions: string[]): string[] {
  return sessionTree(sessions.map(listed)).map(
    ({ session, depth }) => `${'.'.repeat(depth)}${session.id.at(-1)}`,
  )
}

test('forks are below their parents; families and forks are sorted latest first', () => {
  expect(tree('f<e', 'e<a', 'd<c', 'c', 'b<a', 'a')).toEqual(['a', '.e', '..f', '.b', 'c', '.d'])
})

test('a fork without its parent here is a root', () => {
  expect(tree('b<a', 'c<b')).toEqual(['b', '.c'])
})

test('Sessions that name each other, or themselves, as parents are each shown once', () => {
  expect(tree('a<b', 'b<a', 'c<c', 'd<a')).toEqual(['a', '.d', 'b', 'c'])
})
