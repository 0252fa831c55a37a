<?xml version="1.0" encoding="UTF-8"?>
<!-- All rows of one moment of the stock feed -> a message valid under stock.dtd.

     Elements without a value for a company (earnings, say) are omitted. So is the time, unless the
     parameter timed is 'yes': without trades, messages repeat. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:output method="xml" encoding="UTF-8" indent="yes"/>
  <xsl:param name="timed"/>

  <xsl:template match="/">
    <stocks market="PCX">
      <xsl:if test="$timed = 'yes'">
        <xsl:attribute name="time"><xsl:value-of select="rows/row[1]/@time"/></xsl:attribute>
      </xsl:if>
      <xsl:apply-templates select="rows/row"/>
    </stocks>
  </xsl:template>

  <xsl:template match="row">
    <stock sector="{@sector}">
      <symbol exchange="PCX"><xsl:value-of select="@symbol"/></symbol>
      <last-trade currency="USD" move="{@move}"><xsl:value-of select="@last-trade"/></last-trade>
      <pre-close currency="USD"><xsl:value-of select="@pre-close"/></pre-close>
      <open currency="USD"><xsl:value-of select="@open"/></open>
      <bid currency="USD"><xsl:value-of select="@bid"/></bid>
      <ask currency="USD"><xsl:value-of select="@ask"/></ask>
      <target-est currency="USD"><xsl:value-of select="@target-est"/></target-est>
      <avg-volume><xsl:value-of select="@avg-volume"/></avg-volume>
      <market-cap currency="USD"><xsl:value-of select="@market-cap"/></market-cap>
      <xsl:if test="@pe != ''"><pe><xsl:value-of select="@pe"/></pe></xsl:if>
      <eps currency="USD"><xsl:value-of select="@eps"/></eps>
      <xsl:if test="@dividend != ''">
        <dividend currency="USD" per="year"><xsl:value-of select="@dividend"/></dividend>
      </xsl:if>
      <xsl:if test="@yield != ''"><yield><xsl:value-of select="@yield"/></yield></xsl:if>
      <rating><xsl:value-of select="@rating"/></rating>
    </stock>
  </xsl:template>
</xsl:stylesheet>
