import { crc32 } from 'node:zlib'

/** A ZIP archive of one uncompressed file, to be placed after `before` other bytes. */
export function buildZip(name: string, content: Buffer, before = 0): Buffer {
  const facts = Buffer.alloc(26)
  facts.writeUInt16LE(20, 0)
  facts.writeUInt32LE(crc32(content), 10)
  facts.writeUInt32LE(content.length, 14)
  facts.writeUInt32LE(content.length, 18)
  facts.writeUInt16LE(name.length, 22)
  const file = Buffer.concat([Buffer.from('PK\x03\x04'), facts, Buffer.from(name), content])
  const place = Buffer.alloc(14)
  place.writeUInt32LE(before, 10)
  const directory = Buffer.concat([
    Buffer.from('PK\x01\x02\x14\0'),
    facts,
    place,
    Buffer.from(name),
  ])
  const end = Buffer.alloc(18)
  end.writeUInt16LE(1, 4)
  end.writeUInt16LE(1, 6)
  end.writeUInt32LE(directory.length, 8)
  end.writeUInt32LE(before + file.length, 12)
  return Buffer.concat([file, directory, Buffer.from('PK\x05\x06'), end])
}
