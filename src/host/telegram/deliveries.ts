import * as z from 'zod'
import type { Result } from '../../model/errors.ts'
import { InstanceId } from '../../model/ids.ts'
import { Count, Flag, openObject, type Frozen } from '../../model/shape.ts'
import { readRecord, removeRecord, writeRecord, type TelegramHome } from './telegram-folder.ts'

/** How far the answers of an Instance were sent to one chat. */
const DeliveryRecord = openObject(() => ({
  instance: InstanceId,
  paired_at: z.string(),
  /** Every answer up to this frame was sent completely. */
  seq: Count,
  /** Of the next answer, how many messages were sent, and whether its text is sent as rich messages. */
  part: openObject(() => ({ seq: Count, sent: Count, rich: Flag })).optional(),
  /** Telegram refused messages to this chat. */
  parked: Flag,
}))
export type DeliveryRecord = Frozen<z.infer<typeof DeliveryRecord>>

const UpdatePlace = openObject(() => ({ bot: z.int(), next: Count }))

/** A record that was replaced by another pairing does not count. */
export function readDelivery(
  place: Pick<TelegramHome, 'home'>,
  chat: number,
): Promise<Result<DeliveryRecord | undefined>> {
  return readRecord(place, deliveryName(chat), DeliveryRecord)
}

export function writeDelivery(
  place: TelegramHome,
  chat: number,
  delivery: DeliveryRecord,
): Promise<Result<void>> {
  return writeRecord(place, deliveryName(chat), delivery)
}

export function removeDelivery(
  place: Pick<TelegramHome, 'home'>,
  chat: number,
): Promise<Result<void>> {
  return removeRecord(place, deliveryName(chat))
}

/** The number after that of the last update of a bot that was handled completely. */
export async function readUpdatePlace(
  place: Pick<TelegramHome, 'home'>,
  bot: number,
): Promise<Result<number | undefined>> {
  const read = await readRecord(place, UPDATES, UpdatePlace)
  if (!read.ok) return read
  return { ok: true, value: read.value?.bot === bot ? read.value.next : undefined }
}

export function writeUpdatePlace(
  place: TelegramHome,
  bot: number,
  next: number,
): Promise<Result<void>> {
  return writeRecord(place, UPDATES, { bot, next })
}

const UPDATES = 'updates.json'

function deliveryName(chat: number): string {
  return `sent${Math.trunc(chat)}.json`
}
