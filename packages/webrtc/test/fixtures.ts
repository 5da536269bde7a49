/** A description of one data section, as Chromium writes it. */
export const SDP = [
  'v=0',
  'o=- 4421295942875754681 2 IN IP4 127.0.0.1',
  's=-',
  't=0 0',
  'a=group:BUNDLE 0',
  'a=msid-semantic: WMS',
  'm=application 9 UDP/DTLS/SCTP webrtc-datachannel',
  'c=IN IP4 0.0.0.0',
  'a=ice-ufrag:o3P4',
  'a=ice-pwd:PvShww0otAAISGOWme0qeexU',
  'a=ice-options:trickle',
  'a=fingerprint:sha-256 03:3E:BA:C4:59:BD:34:80:AD:5C:E7:B0:97:8E:4B:D3:9D:93:E2:D0:25:A2:DF:0F:1C:8F:3F:92:9D:45:7D:19',
  'a=setup:actpass',
  'a=mid:0',
  'a=sctp-port:5000',
  'a=max-message-size:262144',
  '',
].join('\r\n');

export const CANDIDATE = {
  candidate:
    'candidate:3229573512 1 udp 2122194687 192.0.2.2 55371 typ host generation 0 ufrag o3P4',
  sdpMid: '0',
  sdpMLineIndex: 0,
};
